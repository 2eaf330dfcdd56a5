import fc from "fast-check";
import { expect, test } from "vitest";
import { type FileProblem, newProblems, pathOfUri, problemsReport, readProblems } from "./problems.ts";

const error = (line: number, text: string): FileProblem => ({ path: "a", line, severity: "error", text });

test("E1: a problem that only moved is not new, and one on a new line is", () => {
  const before = { text: "one\nbad\ntwo\n", problems: [error(2, "bad")] };
  expect(newProblems(before, { text: "zero\none\nbad\ntwo\n", problems: [error(3, "bad")] })).toEqual([]);
  expect(newProblems(before, { text: "bad\none\nbad\ntwo\n", problems: [error(1, "bad"), error(3, "bad")] })).toEqual([
    error(1, "bad"),
  ]);
});

test("E1: a problem that stays on an edited line is not new; another problem there is", () => {
  const before = { text: "one\nbad x\ntwo\n", problems: [error(2, "bad")] };
  const text = "one\nbad xy\ntwo\n";
  expect(newProblems(before, { text, problems: [error(2, "bad")] })).toEqual([]);
  expect(newProblems(before, { text, problems: [error(2, "worse")] })).toEqual([error(2, "worse")]);
});

test("E1: of two equal problems, the second is new", () => {
  const before = { text: "a\nb\n", problems: [error(1, "bad")] };
  const now = { text: "a\nb\n", problems: [error(1, "bad"), error(1, "bad")] };
  expect(newProblems(before, now)).toHaveLength(1);
});

test("E1: after any edit of lines, exactly the problems of new lines are new", () => {
  // Each line has its own number, so that the judge knows which lines are new.
  const edit = fc.record({
    at: fc.integer({ min: 0, max: 12 }),
    remove: fc.integer({ min: 0, max: 3 }),
    add: fc.array(fc.constantFrom("bad", "ok"), { maxLength: 3 }),
  });
  const lines = fc.array(fc.constantFrom("bad", "ok"), { maxLength: 12 });
  fc.assert(
    fc.property(lines, fc.array(edit, { maxLength: 4 }), (first, edits) => {
      let count = 0;
      const numbered = (words: readonly string[]) => words.map((word) => `${word} ${count++}`);
      const before = numbered(first);
      const now = [...before];
      for (const { at, remove, add } of edits) now.splice(Math.min(at, now.length), remove, ...numbered(add));
      const checked = (all: readonly string[]) => ({
        text: all.map((line) => `${line}\n`).join(""),
        problems: all.flatMap((line, at) => (line.startsWith("bad") ? [error(at + 1, line)] : [])),
      });
      const fresh = newProblems(checked(before), checked(now)).map(({ text }) => text);
      expect(fresh).toEqual(now.filter((line) => line.startsWith("bad") && !before.includes(line)));
    }),
  );
});

test("E1: a list of a server is read within bounds, and malformed entries are left out", () => {
  const range = { start: { line: 4, character: 0 } };
  const list = [
    { message: "a\u001b[31m\nb", range, severity: 2, source: "lint", code: "no-x" },
    { message: "x".repeat(10_000_000), range },
    { message: "hint", range, severity: 4 },
    { message: "no range" },
    { message: "far", range: { start: { line: -1 } } },
    null,
    7,
  ];
  const [first, second, ...more] = readProblems("a.ts", list);
  expect(first).toEqual({ path: "a.ts", line: 5, severity: "warning", text: "a b [lint no-x]" });
  expect(second?.text.length).toBeLessThan(400);
  expect(more).toEqual([]);
  expect(readProblems("a.ts", Array(10_000).fill({ message: "m", range }))).toHaveLength(2_000);
  expect(readProblems("a.ts", { length: 3 })).toEqual([]);
});

test("E1: only files of the workspace have problems", () => {
  expect(pathOfUri("/work", "file:///work/a%20b/c.ts")).toBe("a b/c.ts");
  for (const uri of [
    "file:///etc/passwd",
    "file:///work/../etc/passwd",
    "file:///work",
    "http://x/a",
    "file:///%zz",
    7,
  ])
    expect(pathOfUri("/work", uri)).toBeUndefined();
});

test("E1: a report has at most twenty problems, errors first, and counts the rest", () => {
  const problems = [...Array(30).keys()].map((at): FileProblem => {
    return { path: "a.ts", line: at + 1, severity: at < 15 ? "warning" : "error", text: `p${at}` };
  });
  const lines = problemsReport(problems).split("\n");
  expect(lines).toHaveLength(22);
  expect(lines[1]).toBe("a.ts:16: error: p15");
  expect(lines[16]).toBe("a.ts:1: warning: p0");
  expect(lines.at(-1)).toBe("[10 more]");
});
