import { describe, expect, it } from "vitest";
import { addedLines, inPairs, readPatch } from "./patch.ts";

const DIFF = "--- a/x\n+++ b/x\n@@ -1,3 +1,4 @@\n one\n-two\n+2\n+2.5\n three";

describe("W31: a unified diff, read", () => {
  it("has the lines with their numbers in the old and the new text", () => {
    expect(readPatch(DIFF)).toEqual([
      { kind: "place", text: "@@ -1,3 +1,4 @@" },
      { kind: "same", text: "one", before: 1, after: 1 },
      { kind: "removed", text: "two", before: 2 },
      { kind: "added", text: "2", after: 2 },
      { kind: "added", text: "2.5", after: 3 },
      { kind: "same", text: "three", before: 3, after: 4 },
    ]);
  });

  it("takes a line that begins like the name of a file for what it is", () => {
    const lines = readPatch("--- a\n+++ b\n@@ -1 +1 @@\n--- old rule\n+++ new rule\n");
    expect(lines.slice(1)).toEqual([
      { kind: "removed", text: "-- old rule", before: 1 },
      { kind: "added", text: "++ new rule", after: 1 },
    ]);
  });

  it("gives the lines that came of a diff that was cut, and the words that stand in place of one", () => {
    expect(readPatch(DIFF.slice(0, DIFF.indexOf("+2.5") + 2)).at(-1)).toEqual({ kind: "added", text: "2", after: 3 });
    expect(readPatch("[no diff: more than 1000 lines changed]")).toEqual([
      { kind: "place", text: "[no diff: more than 1000 lines changed]" },
    ]);
    expect(readPatch("")).toEqual([]);
  });

  it("stands in two columns with what was removed beside what came in its place", () => {
    const pairs = inPairs(readPatch(DIFF)).map(({ left, right }) => [left?.text, right?.text]);
    expect(pairs).toEqual([
      ["@@ -1,3 +1,4 @@", "@@ -1,3 +1,4 @@"],
      ["one", "one"],
      ["two", "2"],
      [undefined, "2.5"],
      ["three", "three"],
    ]);
  });

  it("of a draft has its lines so far, from where they will stand", () => {
    expect(addedLines("a\nb\n", 7)).toEqual([
      { kind: "added", text: "a", after: 7 },
      { kind: "added", text: "b", after: 8 },
    ]);
    expect(addedLines("")).toEqual([]);
  });
});
