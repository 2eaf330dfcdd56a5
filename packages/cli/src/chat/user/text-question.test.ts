import type { TextQuestion } from "@banyan/core/conversation";
import { afterEach, expect, test } from "vitest";
import { Opened } from "../../terminal/full/testing/opened.ts";
import { WrittenPart } from "./answer-drafts.ts";
import { askTextQuestion } from "./text-question.ts";

let here: Opened | undefined;
afterEach(() => here?.[Symbol.dispose]());

test.each([
  ["green\r", "green"],
  ["2", "blue"],
  // The default applies unless the user chooses.
  ["\r", "red"],
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
  const answered = askTextQuestion(here.terminal, question, "banyan", () => new WrittenPart(undefined), signal);
  await here.screen.until(/Which colour\?\n {2}1 \(x\) red\n {2}2 \( \) blue\n {4}Your own answer:/);
  // Keys count after a pause.
  await new Promise((resolve) => setTimeout(resolve, 400));
  here.keys(...typed);
  expect(await answered).toEqual({ decision: "answer", text: given });
  await here.screen.until(new RegExp(`^Which colour\\?\\n\\n❯ ${given}$`));
});
