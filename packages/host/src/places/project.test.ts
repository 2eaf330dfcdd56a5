import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { foldersDownTo, pathLeadsInto, projectOf } from "./project.ts";

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "banyan-project-")));
  mkdirSync(join(folder, "a", "b"), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true }));

test("a project is the repository around a folder, also of a work tree, else the folder itself; links are followed", () => {
  expect(projectOf(join(folder, "a", "b")).root).toBe(join(folder, "a", "b"));
  writeFileSync(join(folder, "a", ".git"), "gitdir: elsewhere");
  symlinkSync(join(folder, "a", "b"), join(folder, "link"));
  expect(projectOf(join(folder, "link")).root).toBe(join(folder, "a"));
  expect(projectOf(join(folder, "a")).settings).toBe(join(folder, "a", ".banyan", "settings.json"));
  expect(projectOf(folder).root).toBe(folder);
});

test("the folders on the way down lead from the root to the folder", () => {
  const b = join(folder, "a", "b");
  expect(foldersDownTo(folder, b)).toEqual([folder, join(folder, "a"), b]);
  expect(foldersDownTo(b, b)).toEqual([b]);
});

test("a path leads into a folder if its real path does", () => {
  symlinkSync(folder, join(folder, "a", "up"));
  expect(pathLeadsInto(join(folder, "a"), join(folder, "a", "b", "new.md"))).toBe(true);
  expect(pathLeadsInto(join(folder, "a"), join(folder, "a"))).toBe(true);
  expect(pathLeadsInto(join(folder, "a"), join(folder, "a", "up", "a", "..", "x"))).toBe(false);
  expect(pathLeadsInto(join(folder, "a"), join(folder, "a", "up"))).toBe(false);
  expect(pathLeadsInto(join(folder, "a"), `${join(folder, "a")}b`)).toBe(false);
});
