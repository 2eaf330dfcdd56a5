import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { editOutside } from "./external-editor.ts";

test("T11: a text can be edited in $VISUAL, with its arguments, and nothing of it is left behind", async () => {
  const temporary = await mkdtemp(join(tmpdir(), "banyan-editor-"));
  vi.stubEnv("TMPDIR", temporary);
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await rm(temporary, { recursive: true, force: true });
  });
  expect(await editOutside("one\ntwo", { ...process.env, VISUAL: "sed -i s/two/2/", EDITOR: "false" })).toBe("one\n2");
  expect(await readdir(temporary)).toEqual([]);
});

test("T11: a missing or failed editor is reported", async () => {
  await expect(editOutside("one", { PATH: process.env.PATH })).rejects.toThrow("Set VISUAL or EDITOR");
  await expect(editOutside("one", { ...process.env, VISUAL: "", EDITOR: "false" })).rejects.toThrow(
    "false ended with exit code 1; your text is unchanged.",
  );
});

test("S16: a program of the working directory is not taken for the editor, nor for the shell", async () => {
  const folder = await mkdtemp(join(tmpdir(), "banyan-planted-"));
  const cwd = process.cwd();
  onTestFinished(async () => {
    process.chdir(cwd);
    await rm(folder, { recursive: true, force: true });
  });
  for (const name of ["sh", "sed"]) await writeFile(join(folder, name), "#!/bin/sh\ntouch ran\n", { mode: 0o755 });
  process.chdir(folder);
  const env = { ...process.env, PATH: `.::${folder}:${process.env.PATH}`, VISUAL: "sed -i s/two/2/" };
  expect(await editOutside("one\ntwo", env)).toBe("one\n2");
  expect((await readdir(folder)).sort()).toEqual(["sed", "sh"]);
});
