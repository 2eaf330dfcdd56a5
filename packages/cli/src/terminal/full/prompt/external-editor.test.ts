import { mkdtemp, readdir, rm } from "node:fs/promises";
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

test("T11: without an editor, or with one that fails, that is said", async () => {
  await expect(editOutside("one", { PATH: process.env.PATH })).rejects.toThrow("set VISUAL or EDITOR");
  await expect(editOutside("one", { ...process.env, VISUAL: "", EDITOR: "false" })).rejects.toThrow(
    "false ended with exit code 1; the text stays as it was.",
  );
});
