import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { editOutside } from "./external-editor.ts";

const ours = () => readdirSync(tmpdir()).filter((name) => name.startsWith("banyan-"));

test("T11: a text can be edited in $VISUAL, with its arguments, and nothing of it is left behind", async () => {
  const before = ours();
  expect(await editOutside("one\ntwo", { ...process.env, VISUAL: "sed -i s/two/2/", EDITOR: "false" })).toBe("one\n2");
  expect(ours().filter((name) => !before.includes(name))).toEqual([]);
});

test("T11: without an editor, or with one that fails, that is said", async () => {
  await expect(editOutside("one", { PATH: process.env.PATH })).rejects.toThrow("set VISUAL or EDITOR");
  await expect(editOutside("one", { ...process.env, VISUAL: "", EDITOR: "false" })).rejects.toThrow(
    "false ended with exit code 1; the text stays as it was.",
  );
});
