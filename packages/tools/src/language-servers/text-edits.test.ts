import { expect, test } from "vitest";
import { applyTextEdits, readWorkspaceEdit, type TextEdit } from "./text-edits.ts";

const edit = (line: number, from: number, to: number, text: string): TextEdit => {
  return { start: { line, character: from }, end: { line, character: to }, text };
};

test("E5: edits count from the same text, in UTF-16 units, with any line ends", () => {
  expect(applyTextEdits("let 🌳a = 1;\r\na();\n", [edit(1, 0, 1, "bb"), edit(0, 6, 7, "bb")])).toBe(
    "let 🌳bb = 1;\r\nbb();\n",
  );
  expect(applyTextEdits("a", [edit(0, 0, 0, "x"), edit(0, 0, 0, "y"), edit(0, 1, 1, "z")])).toBe("xyaz");
});

test.each([
  ["overlap", [edit(0, 0, 2, "x"), edit(0, 1, 3, "y")]],
  ["go backwards", [edit(0, 2, 1, "x")]],
  ["lie behind the line", [edit(0, 0, 9, "x")]],
  ["lie behind the text", [edit(7, 0, 0, "x")]],
])("E5: edits that %s are refused", (_, edits) => {
  expect(() => applyTextEdits("abc\ndef\n", edits)).toThrow("malformed change");
});

test("E5: both forms of a server's change are read, and others are refused", () => {
  const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } };
  const edits = [{ range, newText: "x" }];
  const wanted = new Map([["a.ts", [edit(0, 0, 1, "x")]]]);
  expect(readWorkspaceEdit("/w", { changes: { "file:///w/a.ts": edits } })).toEqual(wanted);
  const textDocument = { uri: "file:///w/a.ts", version: null };
  expect(readWorkspaceEdit("/w", { documentChanges: [{ textDocument, edits }] })).toEqual(wanted);
  const move = { kind: "rename", oldUri: "file:///w/a.ts", newUri: "file:///w/b.ts" };
  expect(() => readWorkspaceEdit("/w", { documentChanges: [move] })).toThrow("create, move or delete");
  expect(() => readWorkspaceEdit("/w", { changes: { "file:///etc/passwd": edits } })).toThrow("outside");
  expect(() => readWorkspaceEdit("/w", { changes: { "file:///w/a.ts": [{ newText: "x" }] } })).toThrow("malformed");
  expect(() => readWorkspaceEdit("/w", null)).toThrow("returned no change");
});
