import { describe, expect, test } from "vitest";
import { choiceIn } from "./decide-by-line.ts";
import type { Choice } from "./decision.ts";

const CHOICES: readonly Choice[] = [
  { key: "y", text: "yes, once", words: ["yes", "Y"] },
  { key: "a", text: "always, in this conversation" },
  { key: "A", text: "always, for good" },
  { key: "n", text: "no", words: ["no", "N"], takesWords: "Why not" },
];

describe("S14: a line is a choice only when it is one of those offered", () => {
  test.each(["", " ", "q", "yy", "yes please", "ok", "0", "12", "ny", "\x1b", "y\ny", "y: do"])(
    "%j is none",
    (line) => {
      expect(choiceIn(line, CHOICES)).toBeUndefined();
    },
  );

  test("by letter, word or number", () => {
    expect(["y", " Y ", "yes", "1"].map((line) => choiceIn(line, CHOICES)?.key)).toEqual(Array(4).fill("y"));
    expect(["a", "A", "2", "3"].map((line) => choiceIn(line, CHOICES)?.key)).toEqual(["a", "A", "a", "A"]);
    expect(choiceIn("no", CHOICES)).toEqual({ key: "n" });
  });

  test("with words where they are asked for", () => {
    expect(choiceIn("n: use npm test", CHOICES)).toEqual({ key: "n", words: "use npm test" });
    expect(choiceIn("4 there is a script\nfor that", CHOICES)).toEqual({
      key: "n",
      words: "there is a script\nfor that",
    });
  });
});
