import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { prepareReplacement } from "../changes/replace-file.ts";
import { locate, openWorkspace } from "../files/paths.ts";
import { readText } from "../files/text-content.ts";
import { TestFolder } from "../test-folder.fixture.ts";
import { type PreparedFile, replaceFiles } from "./put-in-place.ts";

/** Prepares an existing and a new file for the content "new". */
async function prepared(folder: TestFolder, ...paths: readonly string[]) {
  const workspace = openWorkspace(folder.root);
  const all: PreparedFile[] = [];
  const signals = paths.map(() => new AbortController());
  for (const [index, path] of paths.entries()) {
    const location = await locate(workspace, path);
    const before = location.kind === "missing" ? undefined : await readText(workspace, path);
    const bytes = Buffer.from("new");
    const signal = signals[index]?.signal as AbortSignal;
    const replacement = await prepareReplacement(workspace, location, bytes, before?.stats);
    all.push({ content: { location, before, bytes }, signal, replacement });
  }
  return {
    signals,
    async put(backups?: string) {
      const problem = await replaceFiles({ workspace, ...(backups !== undefined && { backups }) }, all);
      for (const { replacement } of all) await replacement[Symbol.asyncDispose]();
      return problem;
    },
  };
}

test("B31: all files are prepared before the first takes its place, and no other file is left behind", async () => {
  using folder = new TestFolder({ "a.txt": "old" });
  const { put } = await prepared(folder, "a.txt", "sub/b.txt");
  expect([folder.read("a.txt"), folder.names("sub").filter((name) => !name.endsWith(".tmp"))]).toEqual(["old", []]);
  expect(await put()).toBeUndefined();
  expect([folder.read("a.txt"), folder.read("sub/b.txt")]).toEqual(["new", "new"]);
  expect([folder.names(), folder.names("sub")]).toEqual([["a.txt", "sub"], ["b.txt"]]);
});

test("B31: when one cannot take its place at last, those that have are put back, new files too", async () => {
  using folder = new TestFolder({ "a.txt": "old", "c.txt": "old" });
  const { put } = await prepared(folder, "a.txt", "b.txt", "c.txt");
  writeFileSync(folder.path("c.txt"), "somebody else's");
  expect(await put()).toBe(
    "c.txt was not written: another program changed the file meanwhile. Read it again first; files written before were restored",
  );
  expect([folder.read("a.txt"), folder.read("c.txt")]).toEqual(["old", "somebody else's"]);
  expect(folder.names()).toEqual(["a.txt", "c.txt"]);
});

test("an obstacle before the first file leaves no change to undo", async () => {
  using folder = new TestFolder({ "a.txt": "old" });
  const { put } = await prepared(folder, "a.txt");
  rmSync(folder.path("a.txt"));
  mkdirSync(folder.path("a.txt"));
  expect(await put()).toBe("a.txt is not a regular file any more, so it was not written");
  expect(folder.names()).toEqual(["a.txt"]);
});

test("F21: a call that is cancelled at the last moment writes nothing", async () => {
  using folder = new TestFolder({ "a.txt": "old", "b.txt": "old" });
  const { put, signals } = await prepared(folder, "a.txt", "b.txt");
  signals[1]?.abort(new Error("the user interrupted"));
  expect(await put()).toBe("the user interrupted; files written before were restored");
  expect([folder.read("a.txt"), folder.read("b.txt"), folder.names()]).toEqual(["old", "old", ["a.txt", "b.txt"]]);
});

test("the report names files that cannot be restored", async () => {
  using folder = new TestFolder({ "a.txt": "old", "c.txt": "old" });
  const { put, signals } = await prepared(folder, "a.txt", "b.txt", "c.txt");
  const signal = signals[2]?.signal as AbortSignal & { throwIfAborted: () => void };
  signal.throwIfAborted = () => {
    writeFileSync(folder.path("a.txt"), "somebody else's");
    writeFileSync(folder.path("b.txt"), "theirs, too");
    throw new Error("the user interrupted");
  };
  expect(await put()).toMatch(
    /^the user interrupted; b\.txt could not be restored: b\.txt was not written: another program changed .*; a\.txt could not be restored: a\.txt was not written: another program changed/,
  );
  expect([folder.read("a.txt"), folder.read("b.txt")]).toEqual(["somebody else's", "theirs, too"]);
});

describe("changes of several files are noted before", () => {
  test("and not for one alone, which takes its place at once", async () => {
    using folder = new TestFolder({ "a.txt": "old", "b.txt": "old" });
    const backups = join(folder.outside, "backups");
    expect(await (await prepared(folder, "a.txt")).put(backups)).toBeUndefined();
    expect(existsSync(backups)).toBe(false);
    expect(await (await prepared(folder, "a.txt", "b.txt")).put(backups)).toBeUndefined();
    expect([readdirSync(backups), readdirSync(join(backups, "intents"))]).toEqual([["intents"], []]);
    expect(statSync(join(backups, "intents")).mode & 0o777).toBe(0o700);
  });

  test("a note that cannot be written stops all changes", async () => {
    using folder = new TestFolder({ "a.txt": "old", "b.txt": "old" });
    const { put } = await prepared(folder, "a.txt", "b.txt");
    expect(await put(join(folder.outside, "secret.txt"))).toMatch(
      /^Nothing was written, because the changes could not first be recorded in .*secret\.txt\/intents \(.*\)$/,
    );
    expect([folder.read("a.txt"), folder.read("b.txt"), folder.names()]).toEqual(["old", "old", ["a.txt", "b.txt"]]);
  });

  test("an end that cannot be noted undoes all changes", async () => {
    using folder = new TestFolder({ "a.txt": "old", "b.txt": "old" });
    const backups = join(folder.outside, "backups");
    const { put, signals } = await prepared(folder, "a.txt", "b.txt");
    const signal = signals[1]?.signal as AbortSignal & { throwIfAborted: () => void };
    signal.throwIfAborted = () => rmSync(join(backups, "intents"), { recursive: true });
    expect(await put(backups)).toMatch(/ENOENT.*; files written before were restored$/);
    expect([folder.read("a.txt"), folder.read("b.txt"), folder.names()]).toEqual(["old", "old", ["a.txt", "b.txt"]]);
  });
});
