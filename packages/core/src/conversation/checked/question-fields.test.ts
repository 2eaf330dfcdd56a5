import { describe, expect, test } from "vitest";
import type { QuestionField } from "../event.ts";
import { fieldsProblem } from "./question-fields.ts";

const colour: QuestionField = {
  heading: "Colour",
  text: "Which one?",
  choices: [{ label: "red", description: "as a brick" }, { label: "blue" }],
};
const sizes: QuestionField = {
  heading: "Sizes",
  text: "Which of them?",
  several: true,
  choices: [{ label: "small" }, { label: "large" }, { label: "huge" }],
};
const labelled = (...labels: readonly string[]) => [{ ...colour, choices: labels.map((label) => ({ label })) }];

describe("C12: questions with choices", () => {
  test.each<[string, readonly QuestionField[], string]>([
    ["without a field", [], "Ask 1 to 4 questions at once, not 0."],
    ["with too many", Array.from({ length: 5 }, () => colour), "Ask 1 to 4 questions at once, not 5."],
    ["without choices", labelled(), 'Give the question "Colour" 2 to 12 choices, not 0.'],
    [
      "with 500",
      labelled(...Array.from({ length: 500 }, (_, at) => `${at}`)),
      'Give the question "Colour" 2 to 12 choices, not 500.',
    ],
    ["with an empty choice", labelled("red", " "), 'A choice of "Colour" must not be empty.'],
    ["with an empty heading", [{ ...colour, heading: "" }], "A heading must not be empty."],
    ["with an empty question", [{ ...colour, text: "\n" }], 'The question "Colour" must not be empty.'],
    [
      "with a control character",
      labelled("red", "bl\u001bue"),
      'A choice of "Colour" must not contain control characters.',
    ],
    ["with a choice of two lines", labelled("red", "bl\nue"), 'A choice of "Colour" must be one line, without tabs.'],
    ["with the same choice twice", labelled("red", "Red "), 'The question "Colour" has the choice "red" twice.'],
    ["with the same heading twice", [colour, colour], 'Two questions have the heading "Colour"; rename one heading.'],
    [
      "with a choice that is too long",
      labelled("red", "b".repeat(101)),
      'A choice of "Colour" is 101 characters long; it may have 100.',
    ],
  ])("a question %s is refused with one sentence", (_, fields, problem) => {
    expect(fieldsProblem(fields)).toBe(problem);
  });

  test("valid fields become questions", () => {
    expect(fieldsProblem([colour, sizes])).toBeUndefined();
  });
});
