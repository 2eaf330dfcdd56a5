import { chmodSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import type { Tool } from "@banyan/core";
import type { FileChange } from "@banyan/core/conversation";
import { describe, expect, test } from "vitest";
import { keepBackup } from "../files/backups.ts";
import { openWorkspace } from "../files/paths.ts";
import { call, TestFolder } from "../test-folder.fixture.ts";
import type { ChangedFile } from "./changed-files.ts";
import { editTool } from "./edit.ts";
import { revertFile, undoChange } from "./undo.ts";
import { writeTool } from "./write.ts";

/** A folder with its workspace, its backups, and tools that keep previous contents. */
class Kept extends TestFolder {
  readonly workspace = openWorkspace(this.root);
  readonly backups = `${this.outside}/backups`;
  readonly write = writeTool(this.workspace, { backups: this.backups });
  readonly edit = editTool(this.workspace, { backups: this.backups });

  /** Returns the changes that a call reports. */
  async changes(tool: Tool, input: Readonly<Record<string, unknown>>): Promise<FileChange> {
    const changes: FileChange[] = [];
    await call(tool, input, { changed: async (change) => void changes.push(change) });
    expect(changes).toHaveLength(1);
    return changes[0] as FileChange;
  }

  undo(change: FileChange): Promise<FileChange> {
    return undoChange(this.workspace, this.backups, change);
  }
}

test("S13: previous contents are kept by their digest, for the owner alone", async () => {
  using folder = new Kept({ "a.txt": "one\n" });
  const change = await folder.changes(folder.edit, { path: "a.txt", old_text: "one", new_text: "two" });
  expect(readdirSync(folder.backups)).toEqual([change.before]);
  expect(statSync(folder.backups).mode & 0o777).toBe(0o700);
  expect(statSync(`${folder.backups}/${change.before}`).mode & 0o777).toBe(0o600);
});

test("write and edit report their changes", async () => {
  using folder = new Kept({ "b.bin": Buffer.from([0, 1, 2]) });
  expect(await folder.changes(folder.write, { path: "a.txt", content: "one\ntwo\n" })).toMatchObject({
    path: "a.txt",
    kind: "created",
    before: null,
    added: 2,
    removed: 0,
    diff: "--- a.txt\n+++ a.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n",
  });
  const edited = await folder.changes(folder.edit, { path: "a.txt", old_text: "two", new_text: "2\n3" });
  expect(edited).toMatchObject({ path: "a.txt", kind: "changed", added: 2, removed: 1 });
  expect(edited.diff).toBe("--- a.txt\n+++ a.txt\n@@ -1,2 +1,3 @@\n one\n-two\n+2\n+3\n");
  expect(await folder.changes(folder.write, { path: "b.bin", content: "text\n" })).toMatchObject({
    kind: "changed",
    added: 1,
    removed: 0,
    diff: "",
  });
  const same: FileChange[] = [];
  await call(folder.write, { path: "b.bin", content: "text\n" }, { changed: async (change) => void same.push(change) });
  expect(same).toEqual([]);
});

test("without a backups folder, no content is kept, but changes are reported", async () => {
  using folder = new TestFolder({ "a.txt": "one\n" });
  const changes: FileChange[] = [];
  await call(
    editTool(openWorkspace(folder.root)),
    { path: "a.txt", old_text: "one", new_text: "two" },
    { changed: async (change) => void changes.push(change) },
  );
  expect(changes).toMatchObject([{ kind: "changed", before: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
  expect(readdirSync(folder.outside)).toEqual(["secret.txt"]);
});

test("a content without a backup is not replaced", async () => {
  using folder = new TestFolder({ "a.txt": "one\n" });
  const backups = `${folder.outside}/secret.txt`;
  const edit = editTool(openWorkspace(folder.root), { backups });
  await expect(call(edit, { path: "a.txt", old_text: "one", new_text: "two" })).rejects.toThrow(
    /could not be saved in .*\((EEXIST|ENOTDIR)\), so nothing was changed/,
  );
  expect(folder.read("a.txt")).toBe("one\n");
});

describe("undo", () => {
  test("puts the previous bytes and the mode back, and can be undone in turn", async () => {
    const before = Buffer.from("\ufeffone\r\ntwo");
    using folder = new Kept({ "a.txt": before });
    chmodSync(folder.path("a.txt"), 0o640);
    const change = await folder.changes(folder.edit, { path: "a.txt", old_text: "two", new_text: "2" });
    const undone = await folder.undo(change);
    expect(folder.read("a.txt")).toBe(before.toString("latin1"));
    expect(statSync(folder.path("a.txt")).mode & 0o777).toBe(0o640);
    expect(undone).toMatchObject({ kind: "changed", before: change.after, after: change.before, added: 1, removed: 1 });
    await folder.undo(undone);
    expect(folder.read("a.txt")).toBe(Buffer.from("\ufeffone\r\n2").toString("latin1"));
  });

  test("removes a file that was created, and brings it back", async () => {
    using folder = new Kept();
    const change = await folder.changes(folder.write, { path: "new/a.txt", content: "one\n" });
    const undone = await folder.undo(change);
    expect(folder.names("new")).toEqual([]);
    expect(undone).toMatchObject({ kind: "deleted", before: change.after, after: null, added: 0, removed: 1 });
    rmSync(folder.path("new"), { recursive: true });
    expect(await folder.undo(undone)).toMatchObject({ kind: "created", after: change.after });
    expect(folder.read("new/a.txt")).toBe("one\n");
  });

  test("restores content that is no text", async () => {
    using folder = new Kept({ "a.bin": Buffer.from([0, 255, 1]) });
    const change = await folder.changes(folder.write, { path: "a.bin", content: "text" });
    expect(await folder.undo(change)).toMatchObject({ kind: "changed", diff: "" });
    expect(folder.read("a.bin")).toBe("\x00\xff\x01");
  });

  test("is refused if the file differs from the result of the change", async () => {
    using folder = new Kept({ "a.txt": "one\n" });
    const change = await folder.changes(folder.edit, { path: "a.txt", old_text: "one", new_text: "two" });
    const conflict = expect.objectContaining({
      code: "changed",
      message: expect.stringMatching(/was changed again afterwards/),
    });
    writeFileSync(folder.path("a.txt"), "somebody else's\n");
    await expect(folder.undo(change)).rejects.toThrow(conflict);
    expect(folder.read("a.txt")).toBe("somebody else's\n");
    rmSync(folder.path("a.txt"));
    await expect(folder.undo(change)).rejects.toThrow(conflict);
    expect(folder.names()).toEqual([]);
  });

  test("says that the previous content is missing or damaged", async () => {
    using folder = new Kept({ "a.txt": "one\n" });
    const change = await folder.changes(folder.edit, { path: "a.txt", old_text: "one", new_text: "two" });
    const kept = `${folder.backups}/${change.before}`;
    writeFileSync(kept, "damaged");
    await expect(folder.undo(change)).rejects.toThrow(/was damaged in /);
    rmSync(kept);
    await expect(folder.undo(change)).rejects.toThrow(/is not kept any more in /);
    expect(folder.read("a.txt")).toBe("two\n");
  });

  test("S8: a log cannot lead undo out of the workspace or the backups", async () => {
    using folder = new Kept({ "a.txt": "one\n" });
    const change = await folder.changes(folder.edit, { path: "a.txt", old_text: "one", new_text: "two" });
    await expect(folder.undo({ ...change, before: "../secret.txt" })).rejects.toThrow(/is not kept any more/);
    await expect(folder.undo({ ...change, path: "../outside/secret.txt" })).rejects.toThrow(
      /leads out of the workspace/,
    );
    rmSync(folder.path("a.txt"));
    symlinkSync(`${folder.outside}/secret.txt`, folder.path("a.txt"));
    await expect(folder.undo(change)).rejects.toThrow(/leads out of the workspace/);
  });
});

describe("revertFile", () => {
  const reverted = async (folder: Kept, ...changes: readonly FileChange[]) => {
    const [first, last] = [changes[0], changes.at(-1)] as [FileChange, FileChange];
    const file: ChangedFile = {
      path: first.path,
      kind: "changed",
      before: first.before,
      after: last.after,
      added: 0,
      removed: 0,
      changes: changes.map((change) => ({ ...change, call: "call-1" })),
    };
    return revertFile(folder.workspace, folder.backups, file);
  };

  test("takes several changes back at once", async () => {
    using folder = new Kept({ "a.txt": "one\n" });
    const first = await folder.changes(folder.edit, { path: "a.txt", old_text: "one", new_text: "two" });
    const second = await folder.changes(folder.edit, { path: "a.txt", old_text: "two", new_text: "three" });
    expect(await reverted(folder, first, second)).toMatchObject({ before: second.after, after: first.before });
    expect(folder.read("a.txt")).toBe("one\n");
  });

  test("is refused when something else changed the file in between", async () => {
    using folder = new Kept({ "a.txt": "one\n" });
    const first = await folder.changes(folder.edit, { path: "a.txt", old_text: "one", new_text: "two" });
    writeFileSync(folder.path("a.txt"), "two, and mine\n");
    const second = await folder.changes(folder.edit, { path: "a.txt", old_text: "two", new_text: "three" });
    await expect(reverted(folder, first, second)).rejects.toThrow(/was changed by another program between/);
    expect(folder.read("a.txt")).toBe("three, and mine\n");
  });
});

test("a content is kept by the SHA-256 of its bytes", async () => {
  using folder = new TestFolder();
  const digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  expect(await keepBackup(undefined, [Buffer.from("a"), Buffer.from("bc")])).toBe(digest);
  expect(await keepBackup(folder.path("kept"), [Buffer.from("a"), Buffer.from("bc")])).toBe(digest);
  expect(folder.read(`kept/${digest}`)).toBe("abc");
});

test("S10: a text that the host refuses is not written to a file", async () => {
  using folder = new TestFolder({ "a.txt": "[hidden]\n" });
  const refuse = (text: string) => (text.includes("[hidden]") ? "It holds a placeholder, not the secret." : undefined);
  const workspace = openWorkspace(folder.root);
  await expect(call(writeTool(workspace, { refuse }), { path: "b.txt", content: "x [hidden]" })).rejects.toThrow(
    "b.txt was not written: It holds a placeholder, not the secret.",
  );
  const edit = editTool(workspace, { refuse });
  await expect(call(edit, { path: "a.txt", old_text: "hidden", new_text: "[hidden]" })).rejects.toThrow(
    "a.txt was not written: It holds a placeholder, not the secret.",
  );
  await call(edit, { path: "a.txt", old_text: "[hidden]", new_text: "shown" });
  expect([folder.read("a.txt"), folder.names()]).toEqual(["shown\n", ["a.txt"]]);
});

test.each([
  "line\nend.txt",
  'quo"te.txt',
  '"whole"',
  " blank ",
  "back\\slash.txt",
  "a\nb/c\td.txt",
  "it\u2019s\u00a0it.txt",
])("F82: a change of %j is undone", async (path) => {
  using folder = new Kept({ [path]: "one\n" });
  const edited = await folder.changes(folder.edit, { path, old_text: "one", new_text: "two" });
  expect(edited.path).toBe(path);
  await folder.undo(edited);
  expect(folder.read(path)).toBe("one\n");
  expect(folder.names()).toEqual([path.split("/")[0]]);
});
