import { describe, expect, test } from "vitest";
import { changedFileLines, changedFileNamed, changeHead, diffLines, draftLines } from "./diff-lines.ts";
import { styleFor } from "./style.ts";

const style = styleFor(process.stdout, "never");
const DIFF = `--- a.ts
+++ a.ts
@@ -8,4 +8,4 @@
 const a = 1;
-const b = 2;
+const b = 3;
+const c = 4;

-	end
@@ -100,1 +100,1 @@
-x
\\ No newline at end of file
+y
`;

describe("T23: a diff", () => {
  test("a diff has line numbers, and + and - for added and removed lines", () => {
    expect(diffLines(DIFF, { style })).toEqual([
      "  8   const a = 1;",
      "  9 - const b = 2;",
      "  9 + const b = 3;",
      " 10 + const c = 4;",
      " 11",
      " 11 -     end",
      "    ⋮",
      "100 - x",
      "     No newline at end of file",
      "100 + y",
    ]);
  });

  test("is coloured too", () => {
    const painted = diffLines(DIFF, { style: styleFor(process.stdout, "always") });
    expect(painted[1]).toContain("\x1b[31m- const b = 2;\x1b[39m");
    expect(painted[2]).toContain("\x1b[32m+ const b = 3;\x1b[39m");
  });

  test("is cut with a count", () => {
    expect(diffLines(DIFF, { style, most: 2 })).toEqual([
      "  8   const a = 1;",
      "  9 - const b = 2;",
      "… (8 more lines)",
    ]);
  });

  test("S12: shows what would hide", () => {
    expect(diffLines("@@ -1 +1 @@\n+a\x1b[2Kb\u202e", { style })).toEqual(["1 + a\\u{1b}[2Kb\\u{202e}"]);
  });

  test("an empty diff has no lines", () => {
    expect(diffLines("", { style })).toEqual([]);
  });
});

test("one line describes a changed file", () => {
  const change = { path: "src/a.ts", kind: "changed", before: "", after: "", added: 2, removed: 1, diff: "" } as const;
  expect(changeHead(change, style)).toBe("changed src/a.ts, 2 lines added, 1 removed");
  expect(changeHead({ ...change, kind: "deleted", added: 0, removed: 9 }, style)).toBe("deleted src/a.ts, 9 removed");
});

describe("B30: a change that the model is writing", () => {
  const draft = { index: 0, path: "src/a.ts", start: 99, end: 102, text: "one\ntwo" };

  test("a growing diff names the lines that it replaces", () => {
    expect(draftLines({ ...draft, text: "" }, { style })).toEqual([
      "writing src/a.ts, lines 99 to 101, 0 lines so far",
    ]);
    expect(draftLines(draft, { style })).toEqual([
      "writing src/a.ts, lines 99 to 101, 2 lines so far",
      " 99 + one",
      "100 + two",
    ]);
  });

  test("a long diff shows its last lines", () => {
    expect(draftLines(draft, { style, most: 1 }).slice(1)).toEqual(["100 + two"]);
  });

  test("may be a whole file, or between two lines", () => {
    expect(draftLines({ index: 0, path: "b", text: "x\n" }, { style })).toEqual([
      "writing b, 1 line so far",
      "  1 + x",
    ]);
    expect(draftLines({ ...draft, end: 99 }, { style })[0]).toContain(", at line 99");
    expect(draftLines({ ...draft, end: 100 }, { style })[0]).toContain(", line 99");
  });
});

test("F82: a changed file with an odd name is listed on one line, and named by what the list shows, or what looks like it", () => {
  const paths = ["line\nend.txt", 'say "hi".txt', '"quoted"', "caf\u00e9.txt", "two a", "two\u00a0b", "two\u202fb"];
  const files = paths.map((path) => ({
    path,
    kind: "changed" as const,
    added: 1,
    removed: 0,
    before: "a",
    after: "b",
    changes: [],
  }));
  const shown = changedFileLines(files)
    .slice(1)
    .map((line) => line.replace(/^ +changed +\+1 +-0 +/, ""));
  const odd = ['"line\\nend.txt"', 'say "hi".txt', '"\\"quoted\\""'];
  expect(shown).toEqual([...odd, ...paths.slice(3, 5), "two\\u{a0}b", "two\\u{202f}b"]);
  for (const [index, name] of shown.entries()) expect(changedFileNamed(files, name)).toBe(files[index]);
  for (const file of files) expect(changedFileNamed(files, `./${file.path}`)).toBe(file);
  expect(changedFileNamed(files, "cafe\u0301.txt")?.path).toBe("caf\u00e9.txt");
  expect(changedFileNamed(files, "two\u00a0a")?.path).toBe("two a");
  expect(changedFileNamed(files, "two b")).toBeUndefined();
  expect(changeHead({ path: "line\nend.txt", kind: "changed", added: 0, removed: 0 }, style)).toBe(
    'changed "line\\nend.txt"',
  );
});
