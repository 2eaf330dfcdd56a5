import { readFileSync } from "node:fs";
import type { FileChange } from "@banyan/core/conversation";
import { call as scripted } from "@banyan/core/testing";
import { describe, expect, test } from "vitest";
import { bringTool } from "../changes/bring.ts";
import { editTool } from "../changes/edit.ts";
import { undoChange } from "../changes/undo.ts";
import { writeTool } from "../changes/write.ts";
import { arm, block, play } from "../edit-mode/play.fixture.ts";
import { call, TestFolder } from "../test-folder.fixture.ts";
import { openWorkspace } from "./paths.ts";
import { readTool } from "./read.ts";

/** The encodings of a text in a file. */
const FORMS: Readonly<Record<string, (text: string) => Buffer>> = {
  "UTF-8": (text) => Buffer.from(text),
  "UTF-8 with a mark": (text) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(text)]),
  "UTF-16LE": (text) => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, "utf16le")]),
  "UTF-16BE": (text) => Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(text, "utf16le").swap16()]),
};

const TEXT = "first grüße\r\nsecond €\r\nthird \u{1f333}\r\n";

class Form extends TestFolder {
  readonly workspace = openWorkspace(this.root);
  readonly backups = `${this.outside}/backups`;
  get bytes(): Buffer {
    return readFileSync(this.path("a.ts"));
  }
}

describe.each(Object.entries(FORMS))("F82, K18: %s is kept", (name, inFile) => {
  const changed = inFile(TEXT.replace("second €", "2 ß\u{1f33f}"));
  const open = () => new Form({ "a.ts": inFile(TEXT) });

  test("by edit, and by its undo, and read shows what is there", async () => {
    using folder = open();
    const changes: FileChange[] = [];
    const edit = editTool(folder.workspace, { backups: folder.backups });
    const context = { changed: async (change: FileChange) => void changes.push(change) };
    const said = await call(edit, { path: "a.ts", old_text: "second €", new_text: "2 ß\u{1f33f}" }, context);
    expect(said).toContain("-second €\n+2 ß\u{1f33f}\n");
    expect(folder.bytes).toEqual(changed);
    expect(await call(readTool(folder.workspace), { path: "a.ts" })).toContain("2\t2 ß\u{1f33f}\n");
    const undone = await undoChange(folder.workspace, folder.backups, changes[0] as FileChange);
    expect(folder.bytes).toEqual(inFile(TEXT));
    await undoChange(folder.workspace, folder.backups, undone);
    expect(folder.bytes).toEqual(changed);
  });

  test("by write, also if the text begins with a mark, and the result says so", async () => {
    using folder = open();
    const write = writeTool(folder.workspace, { backups: folder.backups });
    const said = await call(write, { path: "a.ts", content: "neu ß\r\n" });
    expect(folder.bytes).toEqual(inFile("neu ß\r\n"));
    expect(said).toContain("-second €\n-third \u{1f333}\n+neu ß");
    const words = name === "UTF-8 with a mark" ? "UTF-8" : name;
    if (name !== "UTF-8") expect(said).toContain(`\n[the file stays ${words} with a byte-order mark]\n`);
    else expect(said).not.toContain("mark");
    if (name === "UTF-8") return;
    await call(write, { path: "a.ts", content: "\ufeffwieder ß\r\n" });
    expect(folder.bytes).toEqual(inFile("wieder ß\r\n"));
  });

  test("by edit mode: lines, the whole file, and a symbol", async () => {
    using folder = open();
    await play(folder, [arm("a.ts"), block("ts:2:3", "2 ß\u{1f33f}"), "Done."]);
    expect(folder.bytes).toEqual(changed);
    await play(folder, [arm("a.ts complete overwrite"), block("ts:a.ts", "function one() {}"), "Done."]);
    expect(folder.bytes).toEqual(inFile("function one() {}\r\n"));
    await play(folder, [arm("a.ts symbol"), block("ts:one", "function one() { return 1; }"), "Done."]);
    expect(folder.bytes).toEqual(inFile("function one() { return 1; }\r\n"));
  });

  test("by bring_over, which copies the bytes and merges only UTF-8", async () => {
    using folder = open();
    const there = inFile(TEXT.replace("first", "1"));
    const here = inFile(TEXT);
    const from = (base: Buffer) =>
      bringTool(folder.workspace, {
        incoming: async () => ({
          there: { content: there, mode: "100644" },
          base: { content: base, mode: "100644" },
          hasOwnMode: false,
        }),
        merge: async ({ here }) => ({ text: here.replace("first", "1"), conflicts: 0 }),
      });
    await call(from(inFile("older")), { from: "other", files: ["a.ts"] });
    expect(folder.bytes).toEqual(name.startsWith("UTF-16") ? here : there);
    folder.add("a.ts", here);
    await call(from(here), { from: "other", files: ["a.ts"] });
    expect(folder.bytes).toEqual(there);
  });
});

test.each([
  ["Latin-1", Buffer.from("gr\xfc\xdfe\n", "latin1")],
  ["Shift_JIS", Buffer.from([0x93, 0xfa, 0x96, 0x7b, 0x0a])],
  ["half a character of UTF-16", Buffer.from([0xff, 0xfe, 0x61, 0x00, 0x00, 0xd8])],
  ["an odd number of bytes of UTF-16", Buffer.from([0xff, 0xfe, 0x61, 0x00, 0x62])],
])("F82: no tool writes a file in %s, and the refusal names a remedy", async (_, bytes) => {
  using folder = new Form({ "a.ts": bytes });
  for (const [tool, input] of [
    [editTool(folder.workspace), { path: "a.ts", old_text: "gr", new_text: "x" }],
    [writeTool(folder.workspace), { path: "a.ts", content: "new\n" }],
  ] as const)
    await expect(call(tool, input)).rejects.toThrow(
      /^a\.ts is not valid UTF-(8|16LE), perhaps because it has an older encoding such as Latin-1\. Only UTF-8 and UTF-16 text can be changed, so that no byte is lost; a command can convert it first\.$/,
    );
  const { results } = await play(folder, [arm("a.ts complete overwrite"), block("ts:a.ts", "new"), "Done."]);
  expect(results.join()).toContain("is not valid UTF-");
  expect(folder.bytes).toEqual(bytes);
});

test("F82: UTF-8 text replaces a binary file", async () => {
  using folder = new Form({ "a.ts": Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0, 1]) });
  await call(writeTool(folder.workspace), { path: "a.ts", content: "neu ß\n" });
  expect(folder.bytes).toEqual(Buffer.from("neu ß\n"));
});

test("F82: blocks of edit mode address files with odd names as the call does", async () => {
  const names = [
    "line\nend.txt",
    'say "hi".txt',
    "it's.txt",
    `both'".txt`,
    "back\\slash.txt",
    "with blank.txt",
    "c:d.txt",
  ];
  using folder = new Form(Object.fromEntries(names.map((name) => [name, "before\n"])));
  const forms = names.map((name, index) => `\`\`\`txt:1:2 path=${JSON.stringify(name)}\nafter ${index}\n\`\`\`\n`);
  const { results, said } = await play(folder, [
    names.map((file_path) => scripted("edit_mode", { file_path })),
    forms.join("\n"),
    "Done.",
  ]);
  for (const name of names) expect(results.join("\n")).toContain(`path=${JSON.stringify(name)}`);
  expect(said.join()).toContain("All blocks were applied.");
  for (const [index, name] of names.entries()) expect(folder.read(name)).toBe(`after ${index}\n`);
});
