import type { QuestionField } from "@banyan/core/conversation";
import { expect, test } from "vitest";
import { styleFor } from "../show/style.ts";
import type { Terminal } from "./contract/terminal.ts";
import { fillByLines } from "./fill-by-lines.ts";

const fields: readonly QuestionField[] = [
  { heading: "Colour", text: "Which one?", choices: [{ label: "red", description: "as a brick" }, { label: "blue" }] },
  { heading: "Sizes", text: "Which?", choices: [{ label: "small" }, { label: "huge" }], several: true },
];

/** A terminal with these typed lines. */
function typing(...lines: readonly string[]) {
  const left = [...lines];
  let shown = "";
  const terminal = {
    style: styleFor(process.stdout, "never"),
    columns: 80,
    freshLine() {},
    write(text: string) {
      shown += text;
    },
    ask: async ({ prompt }: { readonly prompt: string }) => {
      shown += `${prompt}\n`;
      return left.shift();
    },
  } as unknown as Terminal;
  return { terminal, shown: () => shown };
}

const form = { title: "banyan asks:", text: "How?", fields, begun: [] };

test("C12, T39: in plain lines each question has its numbers, and is asked again until the line means something", async () => {
  const here = typing("7", "blue", "2: a dark one", "1, 2");
  expect(await fillByLines(here.terminal, form)).toEqual([
    { chosen: ["blue"], words: "a dark one" },
    { chosen: ["small", "huge"], words: "" },
  ]);
  expect(here.shown()).toBe(
    [
      "\nbanyan asks:",
      "How?",
      "\n1 of 2, Colour: Which one?",
      "  1  red: as a brick",
      "  2  blue",
      "  3  Your own answer",
      "A number: ",
      "There is no choice 7.",
      "A number: ",
      'You have not answered yet. Type numbers, or your own words as "3: words".',
      "A number: ",
      "\n2 of 2, Sizes: Which?",
      "  1  small",
      "  2  huge",
      "  3  Your own answer",
      "Numbers separated by commas: ",
      "",
    ].join("\n"),
  );
});

test("C12: an empty line leaves a question without an answer; who leaves fills in nothing", async () => {
  expect(await fillByLines(typing("", "3", "huge, or larger").terminal, form)).toEqual([
    { chosen: [], words: "" },
    { chosen: [], words: "huge, or larger" },
  ]);
  expect(await fillByLines(typing("1").terminal, form)).toBeUndefined();
});
