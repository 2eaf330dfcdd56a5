import { describe, expect, test } from "vitest";
import { askedText, fieldsProblem, filledByLine, filledText, type QuestionField } from "./asked.ts";

const colour: QuestionField = {
  heading: "Colour",
  text: "Which one?",
  choices: [{ label: "red", description: "as a brick" }, { label: "blue" }],
};
const sizes: QuestionField = {
  ...{ heading: "Sizes", text: "Which of them?", several: true },
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
      'A choice of "Colour" must not hold control characters.',
    ],
    ["with a choice of two lines", labelled("red", "bl\nue"), 'A choice of "Colour" must be one line, without tabs.'],
    ["with the same choice twice", labelled("red", "Red "), 'The question "Colour" has the choice "red" twice.'],
    ["with the same heading twice", [colour, colour], 'Two questions have the heading "Colour"; give each its own.'],
    [
      "with a choice that is too long",
      labelled("red", "b".repeat(101)),
      'A choice of "Colour" is 101 characters long; it may have 100.',
    ],
  ])("a question %s is refused with one sentence", (_, fields, problem) => {
    expect(fieldsProblem(fields)).toBe(problem);
  });

  test("what fits is asked", () => {
    expect(fieldsProblem([colour, sizes])).toBeUndefined();
  });

  test("what was filled in is one text, a line for each of several questions", () => {
    expect(filledText([colour], [{ chosen: ["red"], words: "" }])).toBe("red");
    expect(filledText([colour], [{ chosen: [], words: " a dark one " }])).toBe("a dark one");
    const both = [
      { chosen: ["red"], words: "but dark" },
      { chosen: ["small", "huge"], words: "" },
    ];
    expect(filledText([colour, sizes], both)).toBe("Colour: red. In their own words: but dark\nSizes: small, huge");
    expect(filledText([colour, sizes], [undefined, both[1]])).toBe("Colour: (no answer)\nSizes: small, huge");
    expect(filledText([colour, sizes], [])).toBeUndefined();
  });

  test.each<[QuestionField, string, ReturnType<typeof filledByLine>]>([
    [colour, "2", { chosen: ["blue"], words: "" }],
    [colour, "Blue", { chosen: ["blue"], words: "" }],
    [colour, "1: but dark", { chosen: ["red"], words: "but dark" }],
    [colour, "2 of them would be nice", { chosen: [], words: "2 of them would be nice" }],
    [colour, "1, 2", "Only one of them can be chosen."],
    [colour, "3", "There is no choice 3."],
    [sizes, "3, 1", { chosen: ["small", "huge"], words: "" }],
    [sizes, "1 2: no others", { chosen: ["small", "large"], words: "no others" }],
  ])("a line chooses by number or label, or is words", (field, line, filled) => {
    expect(filledByLine(field, line)).toEqual(filled);
  });

  test("it can be read where there is no form", () => {
    expect(askedText({ text: "How shall it look?", fields: [colour, sizes] })).toBe(
      "How shall it look?\n\nColour: Which one?\n- red: as a brick\n- blue\n\nSizes: Which of them? (one or more)\n- small\n- large\n- huge",
    );
  });
});
