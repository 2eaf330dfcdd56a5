import type { QuestionField } from "@banyan/core/conversation";
import { describe, expect, test } from "vitest";
import { filledByLine, filledText, questionText } from "./filled-fields.ts";

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

describe("C12: answers to questions with choices", () => {
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
    [colour, "3: a dark one", { chosen: [], words: "a dark one" }],
    [colour, "1: but dark", { chosen: ["red"], words: "but dark" }],
    ...["Blue", "2 of them would be nice", "yes"].map((line): [QuestionField, string, string] => [
      colour,
      line,
      'You have not answered yet. Type numbers, or your own words as "3: words".',
    ]),
    [{ ...colour, choices: [] }, "2 of them", { chosen: [], words: "2 of them" }],
    [colour, "1, 2", "Choose only one of the choices."],
    [colour, "4", "There is no choice 4."],
    [sizes, "3, 1", { chosen: ["small", "huge"], words: "" }],
    [sizes, "1 2: no others", { chosen: ["small", "large"], words: "no others" }],
  ])("a line chooses by number, or is words after a colon", (field, line, filled) => {
    expect(filledByLine(field, line)).toEqual(filled);
  });

  test("it can be read where there is no form", () => {
    expect(questionText({ text: "How shall it look?", fields: [colour, sizes] })).toBe(
      "How shall it look?\n\nColour: Which one?\n- red: as a brick\n- blue\n\nSizes: Which of them? (one or more)\n- small\n- large\n- huge",
    );
  });
});
