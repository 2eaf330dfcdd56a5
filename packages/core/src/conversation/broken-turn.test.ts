import { expect, test } from "vitest";
import { failedCheckText } from "./broken-turn.ts";

test.each([
  ["no reason", undefined, "tests"],
  ["one line", "it exited with 1; it printed nothing", "tests (it exited with 1; it printed nothing)"],
  ["two lines", "it printed \n1 failed\n", "tests (it printed 1 failed)"],
  ["several lines", "it printed\none\n\ntwo\u202e\n", "tests (it printed … two\\u{202e})"],
])("E13: a failed check is one line with the ends of its reason (%s)", (_, why, expected) => {
  expect(failedCheckText({ what: "tests", ...(why !== undefined && { why }) })).toBe(expected);
});

test("E13: a long reason is cut", () => {
  expect(failedCheckText({ what: "tests", why: "x".repeat(1_000) })).toHaveLength("tests (…)".length + 300);
});
