import { describe, expect, it } from "vitest";
import { writtenDiff } from "./written-diff.ts";

const shown = (diff: string) =>
  writtenDiff(diff)?.map(({ kind, before, after, path }) => [kind, before ?? "", after ?? "", path].join(" ").trim());

const DIFF = `diff --git a/src/a.ts b/src/a.ts
index 1..2 100644
--- a/src/a.ts
+++ b/src/a.ts
@@ -1,4 +1,4 @@
 one
--- two
+2

 four
\\ No newline at end of file
--- a/b.py
+++ b/b.py
@@ -9 +9 @@
-x
+y`;

describe("W62: a diff in an answer", () => {
  it("has kinds, numbers and files, also of lines that look like heads or have lost their blank", () => {
    const file = "src/a.ts";
    expect(shown(DIFF)).toEqual([
      "place",
      "place",
      "place",
      `place   ${file}`,
      `place   ${file}`,
      `same 1 1 ${file}`,
      `removed 2  ${file}`,
      `added  2 ${file}`,
      `same 3 3 ${file}`,
      `same 4 4 ${file}`,
      `place   ${file}`,
      `place   ${file}`,
      "place   b.py",
      "place   b.py",
      "removed 9  b.py",
      "added  9 b.py",
    ]);
    expect(shown("- a\n+ b\nc")).toEqual(["removed", "added", "same"]);
  });

  it("is whole as it was written; one without a change, or too long to be drawn, stays code", () => {
    for (const diff of [DIFF, "- a\n+ b\nc\n", "@@ @@\n-"]) {
      expect(
        writtenDiff(diff)
          ?.map(({ sign, text }) => sign + text)
          .join("\n"),
      ).toBe(diff);
    }
    expect(writtenDiff("nothing\nof it")).toBeUndefined();
    expect(writtenDiff("+\n".repeat(3_000))).toBeUndefined();
  });
});
