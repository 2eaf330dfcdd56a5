import type { TextQuestion } from "@banyan/core/conversation";
import { afterEach, expect, test } from "vitest";
import { Opened } from "../../terminal/full/testing/opened.ts";
import { WrittenPart } from "./answer-drafts.ts";
import { askTextQuestion } from "./text-question.ts";

let here: Opened | undefined;
afterEach(() => here?.[Symbol.dispose]());

test.each([
  ["3\rgreen\r", "green"],
  ["2\r", "blue"],
  // The default, chosen with the arrow key.
  ["\x1b[B\r", "red"],
])("B39: an answer by %s stays in the transcript below the question, as it is given", async (typed, given) => {
  here = new Opened();
  const question: TextQuestion = {
    type: "text",
    id: "q",
    message: "a",
    call: "c",
    text: "Which colour?",
    choices: ["red", "blue"],
    default: "red",
  };
  const { signal } = new AbortController();
  const answered = askTextQuestion(here.terminal, question, {
    asker: "banyan",
    part: () => new WrittenPart(undefined),
    place: () => "",
    signal,
  });
  await here.screen.until(/Which colour\?\n {2}1 \(x\) red\n {2}2 \( \) blue\n {2}3 Your own answer:/);
  // Keys count after a pause.
  await new Promise((resolve) => setTimeout(resolve, 400));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: an arrow key is a control sequence
  for (const key of typed.match(/\x1b\[B|[\s\S]/g) ?? []) here.keys(key);
  expect(await answered).toEqual({ decision: "answer", text: given });
  await here.screen.until(new RegExp(`^Which colour\\?\\n\\n❯ ${given}$`));
});
