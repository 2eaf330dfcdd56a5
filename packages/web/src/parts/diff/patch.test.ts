import { readPatch } from "@banyan/client/words";
import { describe, expect, it } from "vitest";
import { addedLines, inPairs } from "./patch.ts";

const DIFF = "--- a/x\n+++ b/x\n@@ -1,3 +1,4 @@\n one\n-two\n+2\n+2.5\n three";

describe("W31: the lines of a change", () => {
  it("two columns show each removed line next to its replacement", () => {
    const pairs = inPairs(readPatch(DIFF)).map(({ left, right }) => [left?.text, right?.text]);
    expect(pairs).toEqual([
      ["@@ -1,3 +1,4 @@", "@@ -1,3 +1,4 @@"],
      ["one", "one"],
      ["two", "2"],
      [undefined, "2.5"],
      ["three", "three"],
    ]);
  });

  it("the lines of a draft have their later line numbers", () => {
    expect(addedLines("a\nb\n", 7)).toEqual([
      { kind: "added", text: "a", after: 7 },
      { kind: "added", text: "b", after: 8 },
    ]);
    expect(addedLines("")).toEqual([]);
  });
});
