import { chmodSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { emptyConversation } from "@banyan/core";
import { expect, test } from "vitest";
import { openWorkspace } from "../files/paths.ts";
import { call, TestFolder } from "../test-folder.fixture.ts";
import { type BringOptions, bringTool, type IncomingFile } from "./bring.ts";
import { undoChange } from "./undo.ts";

const context = { conversation: emptyConversation(), path: [], signal: new AbortController().signal };

/** What is brought: each file as it was before in both places, and as it is there; nothing stands for no file. */
type There = Readonly<
  Record<string, readonly [string | Buffer | undefined, string | Buffer | undefined, "runs"?, "ran"?]>
>;

function optionsFor(there: There, backups: string): BringOptions {
  const bytes = (content: string | Buffer | undefined) =>
    typeof content === "string" ? Buffer.from(content) : content;
  return {
    backups,
    async incoming(_, path): Promise<IncomingFile> {
      const [base, content, runs, ran] = there[path] ?? [undefined, undefined];
      return { base: bytes(base), content: bytes(content), runs: runs === "runs", baseRuns: ran === "ran" };
    },
    // Whoever has both lines has them both.
    merge: async ({ here, there: other }, from) => ({
      text: `<<<<<<< here\n${here}=======\n${other}>>>>>>> ${from}\n`,
      conflicts: 1,
    }),
  };
}

test("C8: what was changed there only comes as it is there: made, changed, removed, with the mode of a program", async () => {
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
  expect(preview?.notes).toEqual(["new/run.sh can be run as a program now."]);
  expect(await call(tool, input)).toBe(
    [
      "changed changed.txt (+1 -1)",
      "deleted gone.txt (+0 -1)",
      "same.txt is the same here.",
      "mine.txt is the same here.",
      "created new/run.sh (+1 -0). new/run.sh can be run as a program now.",
      "created bytes (+0 -0)",
    ].join("\n"),
  );
  expect([folder.read("changed.txt"), folder.read("mine.txt")]).toEqual(["two\n", "mine\n"]);
  expect(folder.names()).not.toContain("gone.txt");
  expect(statSync(folder.path("new/run.sh")).mode & 0o100).toBe(0o100);
  // What was there before is kept, so that it can be taken back.
  const before = preview?.changes?.[1]?.before ?? "";
  await undoChange(workspace, backups.root, { path: "gone.txt", before, after: null });
  expect(folder.read("gone.txt")).toBe("gone\n");
});

test("F107: a file is not the same if its mode differs, and its mode comes as it is there", async () => {
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
        // Only here its mode is another one.
        "mine.sh": ["old\n", "new\n"],
        "merged.sh": ["base\n", "there\n", "runs"],
        "gone.sh": ["old\n", "old\n", "runs"],
      },
      backups.root,
    ),
  );
  const input = { from: "attempt", files: [...files, "gone.sh"] };
  const notes = [
    "on.sh can be run as a program now.",
    "off.sh can not be run as a program any more.",
    "both.sh can be run as a program now.",
    "merged.sh can be run as a program now.",
    expect.stringContaining("1 place of merged.sh"),
    "gone.sh is not brought over: it was removed here, and its mode was changed in attempt.",
  ];
  expect((await tool.preview?.(input, context))?.notes).toEqual(notes);
  expect((await call(tool, input)).split("\n")).toEqual([
    "on.sh can be run as a program now.",
    "off.sh can not be run as a program any more.",
    "changed both.sh (+1 -1). both.sh can be run as a program now.",
    "other.sh is the same here.",
    "changed mine.sh (+1 -1)",
    expect.stringContaining("changed merged.sh (+4 -0). merged.sh can be run as a program now. 1 place"),
    "gone.sh was not brought over: it was removed here, and its mode was changed in attempt.",
  ]);
  const runs = files.filter((name) => (statSync(folder.path(name)).mode & 0o111) === 0o111);
  expect(runs).toEqual(["on.sh", "both.sh", "mine.sh", "merged.sh"]);
  expect(await call(tool, { from: "attempt", files: ["on.sh", "off.sh"] })).toBe(
    "on.sh is the same here.\noff.sh is the same here.",
  );
});

test("C8: what both places changed is put together, and what contradicts itself is marked and told before", async () => {
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
    "1 place of both.txt was changed here and in attempt: both stand there between <<<<<<< and >>>>>>>. Decide on it, and take the marks away.";
  expect(preview?.notes).toEqual([
    marked,
    "removed.txt is not brought over: it was removed in attempt, and changed here.",
    "here.txt is not brought over: it was removed here, and changed in attempt.",
    "bytes is not brought over: it was changed here and in attempt, and is no text that could be put together.",
  ]);
  expect(await call(tool, input)).toBe(
    [
      `changed both.txt (+4 -0). ${marked}`,
      "removed.txt was not brought over: it was removed in attempt, and changed here.",
      "here.txt was not brought over: it was removed here, and changed in attempt.",
      "bytes was not brought over: it was changed here and in attempt, and is no text that could be put together.",
    ].join("\n"),
  );
  expect(folder.read("both.txt")).toBe("<<<<<<< here\nhere\n=======\nthere\n>>>>>>> attempt\n");
  expect([folder.read("removed.txt"), folder.names().includes("here.txt")]).toEqual(["changed here\n", false]);
});

test("C8: nothing else is written than a person saw, through no link, and nothing that is closed", async () => {
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
    /^seen\.txt was not brought over: seen\.txt is not what it was when a person allowed it\./,
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
