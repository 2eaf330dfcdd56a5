import { describe, expect, test } from "vitest";
import { readPatch } from "./shown-call.ts";

const DIFF = "--- a/x\n+++ b/x\n@@ -1,3 +1,4 @@\n one\n-two\n+2\n+2.5\n three";

describe("W31: a unified diff, read", () => {
  test("has the lines with their numbers in the old and the new text", () => {
    expect(readPatch(DIFF)).toEqual([
      { kind: "place", text: "@@ -1,3 +1,4 @@" },
      { kind: "same", text: "one", before: 1, after: 1 },
      { kind: "removed", text: "two", before: 2 },
      { kind: "added", text: "2", after: 2 },
      { kind: "added", text: "2.5", after: 3 },
      { kind: "same", text: "three", before: 3, after: 4 },
    ]);
  });

  test("takes a line that begins like the name of a file for what it is", () => {
    const lines = readPatch("--- a\n+++ b\n@@ -1 +1 @@\n--- old rule\n+++ new rule\n");
    expect(lines.slice(1)).toEqual([
      { kind: "removed", text: "-- old rule", before: 1 },
      { kind: "added", text: "++ new rule", after: 1 },
    ]);
  });

  test("gives the lines that came of a diff that was cut, and the words that stand in place of one", () => {
    expect(readPatch(DIFF.slice(0, DIFF.indexOf("+2.5") + 2)).at(-1)).toEqual({ kind: "added", text: "2", after: 3 });
    expect(readPatch("[no diff: more than 1000 lines changed]")).toEqual([
      { kind: "place", text: "[no diff: more than 1000 lines changed]" },
    ]);
    expect(readPatch("")).toEqual([]);
  });
});
