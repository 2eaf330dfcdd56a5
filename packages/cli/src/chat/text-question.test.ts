import type { TextQuestion } from "@banyan/core/conversation";
import { afterEach, expect, test } from "vitest";
import { Opened } from "../terminal/full/testing/opened.ts";
import { WrittenPart } from "./answering.ts";
import { answerInWords } from "./text-question.ts";

let here: Opened | undefined;
afterEach(() => here?.[Symbol.dispose]());

test.each([
  ["green", "green"],
  ["2", "blue"],
])("B39: an answer by %s stays in the transcript below the question, as it is given", async (typed, given) => {
  here = new Opened();
  const question: TextQuestion = {
    ...{ type: "text", id: "q", message: "a", call: "c" },
    text: "Which colour?",
    choices: ["red", "blue"],
  };
  const { signal } = new AbortController();
  const answered = answerInWords(here.terminal, question, "banyan", () => new WrittenPart(undefined), signal);
  await here.screen.until("Your answer, or a number:");
  await here.screen.until("Enter answers");
  // Keys that were typed before it appeared count for nothing.
  await new Promise((resolve) => setTimeout(resolve, 400));
  here.keys(typed, "\r");
  expect(await answered).toEqual({ decision: "answer", text: given });
  await here.screen.until(new RegExp(`Which colour\\?\\n  1  red\\n  2  blue\\n\\n❯ ${given}$`));
});
