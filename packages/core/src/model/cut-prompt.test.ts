import fc from "fast-check";
import { expect, test } from "vitest";
import type { ModelRequest, PromptMessage } from "../ports/model.ts";
import { isCut } from "./cut-prompt.ts";

const LETTERS = "abcdefghijklmnopqrstuvwxyz";
const word = fc.string({ unit: fc.constantFrom(...LETTERS), minLength: 1, maxLength: 12 });
const prose = fc.array(word, { minLength: 1, maxLength: 400 }).map((words) => words.join(" "));

/** A conversation, and its tokens by a tokenizer with one token per word plus the envelope. */
const conversation = fc.record({ instructions: prose, said: fc.array(prose, { minLength: 1, maxLength: 8 }) });

function requestOf(instructions: string, said: readonly string[]): ModelRequest {
  const messages = said.map(
    (text, index): PromptMessage =>
      index % 2 === 0
        ? { role: "user", parts: [{ type: "text", text }] }
        : { role: "assistant", parts: [{ type: "text", text }], results: [] },
  );
  return { instructions, messages, tools: [], toolChoice: "auto", settings: {} };
}

const tokensIn = (texts: readonly string[]) => texts.reduce((sum, text) => sum + text.split(" ").length, 0);

test("F69: a prompt that was read whole never counts as cut", () => {
  fc.assert(
    fc.property(conversation, fc.double({ min: 1, max: 3, noNaN: true }), fc.nat(50), (made, ratio, around) => {
      const { instructions, said } = made;
      const counted = Math.ceil(tokensIn([instructions, ...said]) * ratio) + around;
      const request = requestOf(instructions, said);
      expect(isCut(request, counted)).toBe(false);
      // A window that the request fits into.
      const characters = [instructions, ...said].join("").length;
      expect(isCut(request, counted, Math.max(counted + 1, Math.ceil(characters / 4)))).toBe(false);
    }),
    { numRuns: 200 },
  );
});

test("F69: a prompt counts as cut if a server with a tokenizer of whole words read less", () => {
  fc.assert(
    fc.property(
      conversation,
      fc.double({ min: 0.01, max: 0.99, noNaN: true }),
      ({ instructions, said: few }, share) => {
        // Long enough for a count that can be a window.
        const said = Array.from({ length: 100 }, () => few).flat();
        const whole = tokensIn([instructions, ...said]);
        const read = Math.floor(whole * share);
        const rough = [instructions, ...said].join("").length / 4;
        // For short words the rough count is too low, so the window must decide.
        fc.pre(read >= 1_000 && rough > read);
        expect(isCut(requestOf(instructions, said), read)).toBe(true);
      },
    ),
    { numRuns: 200 },
  );
});

test.each([
  ["no count", "a b c", 0, 100, false],
  ["a count at the window", "a b c", 100, 100, true],
  ["half of a text without words that is too long for the window", "1 ".repeat(8_000), 1_900, 2_048, true],
  ["a text of blanks that fits, with few tokens", " ".repeat(8_000), 90, 4_096, false],
  ["a server that counts one token for each request", "word ".repeat(8_000), 1, undefined, false],
  ["Chinese, with a token for each sign", "你好".repeat(3_000), 6_000, 8_192, false],
])("F69: %s", (_, text, counted, window, cut) => {
  expect(isCut(requestOf("", [text]), counted, window)).toBe(cut);
});

test("F69: content that templates may leave out does not count: tools, reasoning, text before calls", () => {
  const long = "word ".repeat(500);
  const request: ModelRequest = {
    ...requestOf("Hi", ["Go"]),
    tools: [{ name: "a", description: long, input: { type: "object" } }],
  };
  const called: PromptMessage = {
    role: "assistant",
    parts: [
      { type: "reasoning", text: long },
      { type: "text", text: long },
      { type: "call", id: "1", tool: "a", input: {} },
    ],
    results: [{ call: "1", tool: "a", output: "Done", failed: false }],
  };
  expect(isCut({ ...request, messages: [...request.messages, called] }, 10)).toBe(false);
});
