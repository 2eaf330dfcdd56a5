import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { applyLineEdits, type LineEdit } from "./line-edits.ts";

/** Parses an edit: `2:4 x|y` replaces the lines 2 and 3 by x and y. */
function edit(short: string): LineEdit {
  const [, start, end, , lines] = /^(\d+):(\d+)( (.*))?$/s.exec(short) ?? [];
  return {
    name: short,
    start: Number(start),
    end: Number(end),
    text:
      lines === undefined
        ? ""
        : lines
            .split("|")
            .map((line) => `${line}\n`)
            .join(""),
  };
}

function edited(text: string, ...edits: readonly string[]): string {
  const result = applyLineEdits(text, edits.map(edit));
  return result.ok ? result.text : result.problems.join("; ");
}

describe("B27: lines", () => {
  const text = "1\n2\n3\n4\n";

  test.each([
    ["replaces up to END, without END", ["2:4 x"], "1\nx\n4\n"],
    ["replaces by more", ["2:3 x|y|z"], "1\nx\ny\nz\n3\n4\n"],
    ["inserts before START", ["2:2 x"], "1\nx\n2\n3\n4\n"],
    ["inserts at the top", ["1:1 x"], "x\n1\n2\n3\n4\n"],
    ["appends", ["5:5 x|y"], "1\n2\n3\n4\nx\ny\n"],
    ["deletes", ["2:4"], "1\n4\n"],
    ["deletes all", ["1:5"], ""],
    ["puts in an empty line", ["2:3 "], "1\n\n3\n4\n"],
    ["means the lines as they were, whatever the order of the edits", ["4:5 d", "1:1 a|b", "2:3"], "a\nb\n1\n3\nd\n"],
    ["takes edits that touch", ["1:2 a", "2:3 b", "3:3 c", "3:4"], "a\nb\nc\n4\n"],
    ["keeps the order of insertions at one place", ["2:2 a", "2:2 b"], "1\na\nb\n2\n3\n4\n"],
  ])("%s", (_, edits, expected) => {
    expect(edited(text, ...edits)).toBe(expected);
  });

  test("an empty file has no lines", () => {
    expect(edited("", "1:1 x")).toBe("x\n");
    expect(edited("", "1:2 x")).toBe("1:2 x reaches beyond the end: the file has 0 lines, so END is at most 1");
  });
});

describe("B31: the error for a wrong edit names the block", () => {
  test.each([
    [["1:7 x"], "1:7 x reaches beyond the end: the file has 4 lines, so END is at most 5"],
    [["6:6 x"], "6:6 x reaches beyond the end: the file has 4 lines, so END is at most 5"],
    [["0:1 x"], "0:1 x begins at line 0, but lines are counted from 1"],
    [["3:2 x"], "3:2 x ends before it begins"],
    [["2:4 x", "3:5 y"], "3:5 y overlaps 2:4 x"],
    [["3:5 y", "2:4 x"], "2:4 x overlaps 3:5 y"],
    [["1:5 x", "3:3 y"], "3:3 y overlaps 1:5 x"],
    [["2:3 x", "2:3 x"], "2:3 x overlaps 2:3 x"],
    [["1:5 a", "2:3 b", "3:4 c"], "2:3 b overlaps 1:5 a; 3:4 c overlaps 1:5 a"],
    [
      ["9:9 a", "1:3 b", "2:3 c"],
      "9:9 a reaches beyond the end: the file has 4 lines, so END is at most 5; 2:3 c overlaps 1:3 b",
    ],
  ])("%j", (edits, expected) => {
    expect(edited("1\n2\n3\n4\n", ...edits)).toBe(expected);
  });
});

describe("B31: line ends", () => {
  test.each([
    ["CRLF", "1\r\n2\r\n3\r\n", ["2:3 x|y", "4:4 z"], "1\r\nx\r\ny\r\n3\r\nz\r\n"],
    ["each its own", "1\r\n2\n3\r\n4\n", ["2:4 x|y"], "1\r\nx\ny\r\n4\n"],
    ["further lines as the one before", "1\r\n2\n3\r\n4\n", ["2:3 x|y|z"], "1\r\nx\ny\nz\n3\r\n4\n"],
    ["inserted lines as the one before", "1\r\n2\n3\n", ["2:2 x"], "1\r\nx\r\n2\n3\n"],
    ["at the top as the first one", "1\r\n2\n", ["1:1 x"], "x\r\n1\r\n2\n"],
    ["CRLF in the new text", "1\n2\n", ["2:3 x\r|y\r"], "1\nx\ny\n"],
    ["a lone CR is part of its line", "1\r2\n3\n", ["2:3 a\rb"], "1\r2\na\rb\n"],
  ])("%s", (_, text, edits, expected) => {
    expect(edited(text, ...edits)).toBe(expected);
  });

  test.each([
    ["kept", "1\n2", ["1:2 x"], "x\n2"],
    ["kept when the last line is replaced", "1\n2", ["2:3 x|y"], "1\nx\ny"],
    ["kept when lines are appended", "1\r\n2", ["3:3 x"], "1\r\n2\r\nx"],
    ["kept when the last line goes", "1\n2", ["2:3"], "1"],
    ["kept in a file of one line", "1", ["2:2 x"], "1\nx"],
    ["nothing is left", "1", ["1:2"], ""],
    ["a CR at the very end is text", "1\n2\r", ["1:2 x"], "x\n2\r"],
    ["a CR at the very end is text, behind CRLF too", "1\r\n2\r", ["1:2 x"], "x\r\n2\r"],
  ])("a last line without end: %s", (_, text, edits, expected) => {
    expect(edited(text, ...edits)).toBe(expected);
  });
});

/** A reference implementation with arrays that applies the edits from last to first. */
function reference(text: string, edits: readonly LineEdit[]): string {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const split = lines.map((line) => ({ line: line.replace(/\r?\n$/, ""), end: /\r?\n$/.exec(line)?.[0] ?? "" }));
  const isEnded = split.at(-1)?.end !== "";
  const last = split.at(-1);
  if (last && !isEnded) last.end = split.at(-2)?.end ?? "\n";
  const original = [...split];
  const descending = edits
    .map((edit, index) => ({ ...edit, index }))
    .sort((one, other) => other.start - one.start || other.end - one.end || other.index - one.index);
  for (const { start, end, text: body } of descending) {
    const own = original.slice(start - 1, end - 1);
    const otherwise = own.at(-1)?.end ?? original[start - 2]?.end ?? original[0]?.end ?? "\n";
    const lines = body.split("\n").slice(0, -1);
    split.splice(start - 1, end - start, ...lines.map((line, n) => ({ line, end: own[n]?.end ?? otherwise })));
  }
  return split.map(({ line, end }, n) => (isEnded || n < split.length - 1 ? line + end : line)).join("");
}

const line = fc.string({ maxLength: 4, unit: fc.constantFrom("a", "b", "`", "\t", "é", "\u{1f333}", " ", ":") });

const files = fc
  .tuple(
    fc.array(fc.tuple(line, fc.constantFrom("\n", "\r\n")), { maxLength: 12 }),
    fc.constantFrom("mixed", "\n", "\r\n"),
    fc.boolean(),
  )
  .map(([lines, ends, isEnded]) => {
    const text = lines.map(([line, end]) => line + (ends === "mixed" ? end : ends)).join("");
    return isEnded ? text : text.replace(/\r?\n$/, "");
  });

test("random edits that do not overlap equal a naive reference", () => {
  fc.assert(
    fc.property(files, fc.array(fc.tuple(fc.nat(), fc.nat(3), fc.array(line, { maxLength: 3 }))), (text, wanted) => {
      const count = (text.match(/[^\n]*\n|[^\n]+$/g) ?? []).length;
      const taken = new Set<number>();
      const edits: LineEdit[] = [];
      for (const [at, length, lines] of wanted) {
        const start = (at % (count + 1)) + 1;
        const end = Math.min(start + length, count + 1);
        const inside = Array.from({ length: end - start }, (_, n) => start + n);
        const splits = edits.some(
          (e) =>
            (e.start < start && start < e.end && start === end) ||
            (start < e.start && e.start === e.end && e.start < end),
        );
        if (inside.some((n) => taken.has(n)) || splits) continue;
        for (const n of inside) taken.add(n);
        edits.push({ name: `${start}:${end}`, start, end, text: lines.map((line) => `${line}\n`).join("") });
      }
      expect(applyLineEdits(text, edits)).toEqual({ ok: true, text: reference(text, edits) });
    }),
    { numRuns: 2000 },
  );
});
