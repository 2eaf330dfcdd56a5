import { expect, test } from "vitest";
import { table } from "./table.ts";

const rows = [
  ["tool", "shorten_conversation", "~102"],
  ["conversation", "answers", "3"],
];

test("columns are as wide as their widest cell, those of numbers set to the right", () => {
  expect(table(rows, 2)).toEqual([
    "tool           shorten_conversation   ~102",
    "conversation   answers                   3",
  ]);
});

test("T26: in few columns they move closer, and the widest text is cut; numbers are not", () => {
  expect(table(rows, 2, 38)).toEqual([
    "tool         shorten_conversation ~102",
    "conversation answers                 3",
  ]);
  expect(table(rows, 2, 30)).toEqual(["tool         shorten_con… ~102", "conversation answers         3"]);
  expect(table(rows, 2, 5)).toEqual(["tool     shorten… ~102", "convers… answers     3"]);
});
