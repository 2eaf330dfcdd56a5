import { chmodSync, lstatSync, readlinkSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { emptyConversation } from "@banyan/core";
import type { FileChange, Preview } from "@banyan/core/conversation";
import { expect, test } from "vitest";
import { openWorkspace } from "../files/paths.ts";
import { call, TestFolder } from "../test-folder.fixture.ts";
import { type BringOptions, bringTool, type IncomingFile } from "./bring.ts";
import type { FileEntry } from "./file-entry.ts";
import { undoChange } from "./undo.ts";

const context = {
  context: undefined,
  conversation: emptyConversation(),
  path: [],
  signal: new AbortController().signal,
};

/** Files of the other branch: the common content, then the branch's content; undefined: no file. */
type There = Readonly<
  Record<string, readonly [string | Buffer | undefined, string | Buffer | undefined, "runs"?, "ran"?]>
>;

function optionsFor(there: There, backups: string): BringOptions {
  const entry = (content: string | Buffer | undefined, runs: boolean) =>
    content === undefined ? undefined : { content: Buffer.from(content), mode: runs ? "100755" : "100644" };
  return {
    backups,
    async incoming(_, path): Promise<IncomingFile> {
      const [base, content, runs, ran] = there[path] ?? [undefined, undefined];
      const [does, did] = [runs === "runs", ran === "ran"];
      return { base: entry(base, did), there: entry(content, does), hasOwnMode: does !== did };
    },
    // The test's merge keeps both lines.
    merge: async ({ here, there: other }, from) => ({
      text: `<<<<<<< here\n${here}=======\n${other}>>>>>>> ${from}\n`,
      conflicts: 1,
    }),
  };
}

test("C8: bring_over brings files that changed only there: made, changed, removed, with the mode of a program", async () => {
  using folder = new TestFolder({
    "changed.txt": "one\n",
    "gone.txt": "gone\n",
    "same.txt": "same\n",
    "mine.txt": "mine\n",
  });
  using backups = new TestFolder();
  const workspace = openWorkspace(folder.root);
  const tool = bringTool(
    workspace,
    optionsFor(
      {
        "changed.txt": ["one\n", "two\n"],
        "gone.txt": ["gone\n", undefined],
        "same.txt": ["was\n", "same\n"],
        "mine.txt": ["before\n", "before\n"],
        "new/run.sh": [undefined, "#!/bin/sh\n", "runs"],
        bytes: [undefined, Buffer.from([0, 255])],
      },
      backups.root,
    ),
  );
  const input = { from: "attempt", files: ["changed.txt", "gone.txt", "same.txt", "mine.txt", "new/run.sh", "bytes"] };
  const preview = await tool.preview?.(input, context);
  expect(preview?.changes?.map(({ path, kind }) => `${kind} ${path}`)).toEqual([
    "changed changed.txt",
    "deleted gone.txt",
    "created new/run.sh",
    "created bytes",
  ]);
  expect(preview?.notes).toEqual(["new/run.sh is executable now."]);
  expect(await call(tool, input)).toBe(
    [
      "changed changed.txt (+1 -1)",
      "deleted gone.txt (+0 -1)",
      "same.txt is the same on both branches.",
      "mine.txt was not changed in attempt.",
      "created new/run.sh (+1 -0). new/run.sh is executable now.",
      "created bytes (+0 -0)",
    ].join("\n"),
  );
  expect([folder.read("changed.txt"), folder.read("mine.txt")]).toEqual(["two\n", "mine\n"]);
  expect(folder.names()).not.toContain("gone.txt");
  expect(statSync(folder.path("new/run.sh")).mode & 0o100).toBe(0o100);
  // The previous content is kept for undo.
  const before = preview?.changes?.[1]?.before ?? "";
  await undoChange(workspace, backups.root, { path: "gone.txt", before, after: null });
  expect(folder.read("gone.txt")).toBe("gone\n");
});

test("F107: files with different modes differ, and bring_over brings the mode", async () => {
  const files = ["on.sh", "off.sh", "both.sh", "other.sh", "mine.sh", "merged.sh"];
  using folder = new TestFolder(Object.fromEntries(files.map((name) => [name, "old\n"])));
  using backups = new TestFolder();
  for (const name of ["off.sh", "mine.sh"]) chmodSync(folder.path(name), 0o755);
  writeFileSync(folder.path("merged.sh"), "here\n");
  const workspace = openWorkspace(folder.root);
  const tool = bringTool(
    workspace,
    optionsFor(
      {
        "on.sh": ["old\n", "old\n", "runs"],
        "off.sh": ["old\n", "old\n", undefined, "ran"],
        "both.sh": ["old\n", "new\n", "runs"],
        "other.sh": ["old\n", "old\n"],
        // The mode changed only on this branch.
        "mine.sh": ["old\n", "new\n"],
        "merged.sh": ["base\n", "there\n", "runs"],
        "gone.sh": ["old\n", "old\n", "runs"],
      },
      backups.root,
    ),
  );
  const input = { from: "attempt", files: [...files, "gone.sh"] };
  const notes = [
    "on.sh is executable now.",
    "off.sh is not executable any more.",
    "both.sh is executable now.",
    "merged.sh is executable now.",
    expect.stringContaining("1 conflict in merged.sh"),
    "gone.sh is not brought over: it was removed here, and its mode was changed in attempt.",
  ];
  expect((await tool.preview?.(input, context))?.notes).toEqual(notes);
  expect((await call(tool, input)).split("\n")).toEqual([
    "on.sh is executable now.",
    "off.sh is not executable any more.",
    "changed both.sh (+1 -1). both.sh is executable now.",
    "other.sh is the same on both branches.",
    "changed mine.sh (+1 -1)",
    expect.stringContaining("changed merged.sh (+4 -0). merged.sh is executable now. 1 conflict"),
    "gone.sh was not brought over: it was removed here, and its mode was changed in attempt.",
  ]);
  const runs = files.filter((name) => (statSync(folder.path(name)).mode & 0o111) === 0o111);
  expect(runs).toEqual(["on.sh", "both.sh", "mine.sh", "merged.sh"]);
  expect(await call(tool, { from: "attempt", files: ["on.sh", "off.sh"] })).toBe(
    "on.sh is the same on both branches.\noff.sh is the same on both branches.",
  );
});

/** Files of the other branch: the common entry, then the branch's entry. */
type Entries = Readonly<Record<string, readonly [FileEntry | undefined, FileEntry | undefined]>>;

const link = (target: string): FileEntry => ({ content: Buffer.from(target), mode: "120000" });
const file = (text: string, mode = "100644"): FileEntry => ({ content: Buffer.from(text), mode });

function bringing(folder: TestFolder, backups: TestFolder, entries: Entries) {
  const tool = bringTool(openWorkspace(folder.root), {
    backups: backups.root,
    incoming: async (_, path) => {
      const [base, there] = entries[path] ?? [undefined, undefined];
      const hasOwnMode = there !== undefined && there.mode !== "120000" && there.mode !== (base?.mode ?? "100644");
      return { base, there, hasOwnMode };
    },
    merge: async () => ({ text: "", conflicts: 1 }),
  });
  const changes: FileChange[] = [];
  const input = { from: "attempt", files: Object.keys(entries) };
  return {
    preview: () => tool.preview?.(input, context),
    /** Brings the files over. Returns the lines of the result, and the changes for undo. */
    async bring(agreed?: Preview) {
      const changed = async (change: FileChange) => void changes.push(change);
      return { told: (await call(tool, input, { changed, ...(agreed && { agreed }) })).split("\n"), changes };
    },
  };
}

/** Returns the entries of a folder: the mode of each, with its text or link target. */
function standing(folder: TestFolder) {
  return Object.fromEntries(
    folder.names().map((name) => {
      const path = folder.path(name);
      const mode = lstatSync(path).mode;
      const isLink = lstatSync(path).isSymbolicLink();
      return [name, isLink ? `-> ${readlinkSync(path)}` : `${(mode & 0o777).toString(8)} ${folder.read(name)}`];
    }),
  );
}

test("F107: links and all bits of modes are brought over, and undo takes each of them back and forth", async () => {
  using folder = new TestFolder({
    "mode.txt": "same\n",
    "both.sh": "old\n",
    "file.txt": "was a file\n",
    "target.txt": "t\n",
  });
  using backups = new TestFolder();
  for (const name of folder.names()) chmodSync(folder.path(name), 0o644);
  symlinkSync("target.txt", folder.path("moved"));
  symlinkSync("target.txt", folder.path("gone"));
  symlinkSync("target.txt", folder.path("solid"));
  const before = standing(folder);
  const { preview, bring } = bringing(folder, backups, {
    "mode.txt": [file("same\n"), file("same\n", "100600")],
    "both.sh": [file("old\n"), file("new\n", "100750")],
    "made.sh": [undefined, file("made\n", "100700")],
    made: [undefined, link("mode.txt")],
    moved: [link("target.txt"), link("sub/none.txt")],
    gone: [link("target.txt"), undefined],
    solid: [link("target.txt"), file("solid\n")],
    "file.txt": [file("was a file\n"), link("target.txt")],
  });
  const seen = await preview();
  expect(seen?.notes).toEqual([
    "mode.txt has the mode 600 now.",
    "both.sh is executable now.",
    "made.sh is executable now.",
    "made is a link to mode.txt.",
    "moved is a link to sub/none.txt.",
    "solid is not a link any more.",
    "file.txt is a link to target.txt.",
  ]);
  expect(seen?.changes?.find(({ path }) => path === "moved")?.diff).toContain("-target.txt");
  const { told, changes } = await bring(seen);
  expect(told.slice(0, 2)).toEqual([
    "mode.txt has the mode 600 now.",
    "changed both.sh (+1 -1). both.sh is executable now.",
  ]);
  const after = standing(folder);
  expect(after).toEqual({
    "both.sh": "750 new\n",
    "file.txt": "-> target.txt",
    made: "-> mode.txt",
    "made.sh": "700 made\n",
    "mode.txt": "600 same\n",
    moved: "-> sub/none.txt",
    solid: "644 solid\n",
    "target.txt": "644 t\n",
  });
  const workspace = openWorkspace(folder.root);
  const undone: FileChange[] = [];
  for (const change of changes) undone.push(await undoChange(workspace, backups.root, change));
  expect(standing(folder)).toEqual(before);
  for (const change of undone) await undoChange(workspace, backups.root, change);
  expect(standing(folder)).toEqual(after);
});

test("F107: bring_over names, and does not change, a link out of the workspace or a link that both places changed", async () => {
  using folder = new TestFolder({ "a.txt": "a\n", "b.txt": "b\n" });
  using backups = new TestFolder();
  symlinkSync("a.txt", folder.path("both"));
  const { bring } = bringing(folder, backups, {
    out: [undefined, link("../outside/secret.txt")],
    far: [undefined, link("/etc/hostname")],
    both: [link("b.txt"), link("c.txt")],
    same: [undefined, undefined],
  });
  const before = standing(folder);
  const { told } = await bring();
  expect(told).toEqual([
    "out was not brought over: it is a link to ../outside/secret.txt, which is outside of the workspace. Make it by hand with ln -s.",
    "far was not brought over: it is a link to /etc/hostname, which is outside of the workspace. Make it by hand with ln -s.",
    "both was not brought over: it was changed here and in attempt, and is a link on one of the branches. Resolve this by hand.",
    "same is the same on both branches.",
  ]);
  expect(standing(folder)).toEqual(before);
});

test("F107: undo does not change a file whose mode differs from the mode after the change", async () => {
  using folder = new TestFolder({ "mode.txt": "same\n" });
  using backups = new TestFolder();
  chmodSync(folder.path("mode.txt"), 0o644);
  const { bring } = bringing(folder, backups, { "mode.txt": [file("same\n"), file("same\n", "100600")] });
  const { changes } = await bring();
  chmodSync(folder.path("mode.txt"), 0o640);
  const undone = undoChange(openWorkspace(folder.root), backups.root, changes[0] as FileChange);
  await expect(undone).rejects.toThrow("mode.txt was changed again afterwards");
  expect(standing(folder)).toEqual({ "mode.txt": "640 same\n" });
});

test("C8: bring_over merges files that both places changed, marks conflicts and reports them before", async () => {
  using folder = new TestFolder({ "both.txt": "here\n", "removed.txt": "changed here\n", bytes: "\0here" });
  using backups = new TestFolder();
  const tool = bringTool(
    openWorkspace(folder.root),
    optionsFor(
      {
        "both.txt": ["base\n", "there\n"],
        "removed.txt": ["base\n", undefined],
        "here.txt": ["base\n", "changed there\n"],
        bytes: ["\0base", "\0there"],
      },
      backups.root,
    ),
  );
  const input = { from: "attempt", files: ["both.txt", "removed.txt", "here.txt", "bytes"] };
  const preview = await tool.preview?.(input, context);
  expect(preview?.changes?.map(({ path }) => path)).toEqual(["both.txt"]);
  const marked =
    "1 conflict in both.txt, which was changed here and in attempt: the file has both versions between <<<<<<< and >>>>>>>. For each conflict, keep one version and remove the marks.";
  expect(preview?.notes).toEqual([
    marked,
    "removed.txt is not brought over: it was removed in attempt, and changed here.",
    "here.txt is not brought over: it was removed here, and changed in attempt.",
    "bytes is not brought over: it was changed here and in attempt, and is not text, so it cannot be merged.",
  ]);
  expect(await call(tool, input)).toBe(
    [
      `changed both.txt (+4 -0). ${marked}`,
      "removed.txt was not brought over: it was removed in attempt, and changed here.",
      "here.txt was not brought over: it was removed here, and changed in attempt.",
      "bytes was not brought over: it was changed here and in attempt, and is not text, so it cannot be merged.",
    ].join("\n"),
  );
  expect(folder.read("both.txt")).toBe("<<<<<<< here\nhere\n=======\nthere\n>>>>>>> attempt\n");
  expect([folder.read("removed.txt"), folder.names().includes("here.txt")]).toEqual(["changed here\n", false]);
});

test("C8: bring_over writes only what the user saw, through no link, and no closed file", async () => {
  using folder = new TestFolder({ "seen.txt": "one\n", "other.txt": "one\n" });
  using backups = new TestFolder();
  const tool = bringTool(
    openWorkspace(folder.root, ["closed"]),
    optionsFor(
      {
        "seen.txt": ["one\n", "two\n"],
        link: ["one\n", "two\n"],
        "closed/x": [undefined, "x"],
        "../out": [undefined, "x"],
      },
      backups.root,
    ),
  );
  const agreed = await tool.preview?.({ from: "attempt", files: ["seen.txt"] }, context);
  writeFileSync(folder.path("seen.txt"), "one\nand more\n");
  expect(await call(tool, { from: "attempt", files: ["seen.txt"] }, agreed && { agreed })).toMatch(
    /^seen\.txt was not brought over: seen\.txt has changed since the user allowed this call\./,
  );
  symlinkSync("other.txt", folder.path("link"));
  const said = await call(
    tool,
    { from: "attempt", files: ["link", "closed/x", "../out"] },
    { permit: async () => ({ decision: "deny", reason: "no" }) },
  );
  expect(said).toMatch(
    /^link was not brought over: .*\nclosed\/x was not brought over: .*\n\.\.\/out was not brought over: .*leads out of the workspace/s,
  );
  expect(folder.read("other.txt")).toBe("one\n");
});
