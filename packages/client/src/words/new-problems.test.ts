import type { FileChange } from "@banyan/core/conversation";
import { ALL_APPLIED, EDIT_MODE_ENDED, NEW_PROBLEMS } from "@banyan/core/shown";
import { expect, test } from "vitest";
import { problemsOfCall, toolReport } from "./new-problems.ts";

const problem = "a.ts:2: error: Expected 1 argument.";
const report = `${NEW_PROBLEMS}\n${problem}`;
const change: FileChange = { path: "a.ts", kind: "changed", before: "", after: "", added: 1, removed: 0, diff: "" };

test("E1: a call that changed files shows the new problems of its result, and a call that quotes a report shows none", () => {
  const output = `@@ -1 +1 @@\n\n${report}`;
  expect(problemsOfCall({ output, changes: [change] })).toEqual([problem]);
  expect(problemsOfCall({ output })).toEqual([]);
  expect(problemsOfCall({ changes: [change] })).toEqual([]);
});

test("E3: a call shows the problems of its complete changes that are not made yet, the last ones of each file", () => {
  const draft = { index: 0, path: "a.ts", text: "" };
  const drafts = [
    { ...draft, problems: ["a.ts:1: error: No."] },
    { ...draft, index: 1, problems: [problem] },
    { ...draft, index: 2 },
    { ...draft, path: "b.ts", problems: ["b.ts:1: error: No."] },
  ];
  expect(problemsOfCall({ drafts })).toEqual([problem, "b.ts:1: error: No."]);
});

test("E1: the report of applied blocks shows only the new problems, and another report also its text", () => {
  const applied = `${ALL_APPLIED}\na.ts: 1 block applied; it has 2 lines now, and had 1.\n${EDIT_MODE_ENDED}.`;
  expect(toolReport(`${applied}\n\n${report}`)).toEqual({ text: "", problems: [problem] });
  expect(toolReport(`Some blocks were applied.\n\n${report}`)).toEqual({
    text: "Some blocks were applied.",
    problems: [problem],
  });
  expect(toolReport(applied)).toEqual({ text: "", problems: [] });
});
