import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ThinkTagPiece, ThinkTags } from "./think-tags.ts";

/** Returns the reasoning and the text of an answer that arrives in these pieces. */
function read(pieces: readonly string[], model = "m") {
  const tags = new ThinkTags(model);
  const said: ThinkTagPiece[] = [...pieces.flatMap((piece) => tags.take(piece)), ...tags.end()];
  const of = (type: ThinkTagPiece["type"]) =>
    said.flatMap((piece) => (piece.type === type ? [piece.text] : [])).join("");
  return { reasoning: of("reasoning"), text: of("text") };
}

function cut(text: string, cuts: readonly number[]): string[] {
  const places = [0, ...cuts.map((at) => at % (text.length + 1)).sort((a, b) => a - b), text.length];
  return places.slice(1).map((end, index) => text.slice(places[index], end));
}

describe("F58: reasoning between tags", () => {
  test.each<[string, readonly string[], string, string, string?]>([
    [
      "think-tags",
      ["<think>\nThe person wants", " a capital.\n</think>\n\n", "Paris."],
      "The person wants a capital.\n",
      "Paris.",
    ],
    ["tags later in prose", ["Use <think> and </think>."], "", "Use <think> and </think>."],
    ["no tags", ["Paris", "."], "", "Paris."],
    ["a word that begins like the tag", ["<thin", "g>"], "", "<thing>"],
    ["no closing tag", ["<think>Hm"], "Hm", ""],
    ["a second pair", ["<think>a</think>b<think>c</think>"], "a", "b<think>c</think>"],
    [
      "no opening tag, of a model that leaves it out",
      ["Let me", " see.</thi", "nk>\nParis."],
      "Let me see.",
      "Paris.",
      "qwq-32b",
    ],
    ["the same of another model", ["Let me see.</think>Paris."], "", "Let me see.</think>Paris."],
    ["no tag at all, of a model that leaves it out", ["Paris."], "", "Paris.", "deepseek-r1:8b"],
  ])("%s", (_, pieces, reasoning, text, model) => expect(read(pieces, model)).toEqual({ reasoning, text }));

  const prose = fc
    .string({ unit: fc.constantFrom("a", " ", "\n", "<", ">", "/", "think", "</", "<think") })
    .filter((text) => !text.includes("</think>"));
  const cuts = fc.array(fc.nat(), { maxLength: 8 });

  test("is separated from the answer wherever the content is cut, and tags in the answer stay", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("", " ", "\n\n"),
        prose,
        prose,
        fc.boolean(),
        cuts,
        (blank, reasoning, text, more, cuts) => {
          const inner = `x${reasoning}`;
          const answer = `y${text}${more ? "<think>z</think>" : ""}`;
          // The join must not form a closing tag by chance.
          fc.pre(!`${inner}<`.includes("</think>"));
          const content = `${blank}<think>${inner}</think>\n${answer}`;
          expect(read(cut(content, cuts))).toEqual({ reasoning: inner, text: answer });
        },
      ),
      { numRuns: 300 },
    );
  });

  test("content that does not begin with the tag stays as it is", () => {
    fc.assert(
      fc.property(prose, cuts, fc.boolean(), (text, cuts, more) => {
        const content = `y${text}${more ? "</think>" : ""}`;
        expect(read(cut(content, cuts))).toEqual({ reasoning: "", text: content });
      }),
      { numRuns: 200 },
    );
  });

  test("of a model without the opening tag waits with at most 2 kB", () => {
    const tags = new ThinkTags("qwq");
    let waiting = 0;
    for (let at = 0; at < 100; at++) {
      waiting += 100;
      for (const { text } of tags.take("x".repeat(100))) waiting -= text.length;
      expect(waiting).toBeLessThanOrEqual(2_100);
    }
    expect(waiting).toBe(0);
  });
});
