import fc from "fast-check";
import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import type { Message } from "../conversation/message.ts";
import { pathTo } from "../conversation/tree/path.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { ModelRequest } from "../ports/model.ts";
import { Session } from "../session/session.ts";
import { checkConversation } from "../testing/check-conversation.ts";
import { call } from "../testing/scripted-model.ts";
import { isSummaryRequest, limitedModel } from "./limited-model.fixture.ts";

/** Texts of refusals: with the window, with a wrong number, or without a number. */
const WORDS = [
  undefined,
  () => "prompt is too long",
  () => "The maximum context length is 64 tokens.",
  () => "The maximum context length is 900000 tokens.",
] as const;

const counts = {
  right: (tokens: number) => tokens,
  half: (tokens: number) => Math.ceil(tokens / 2),
  double: (tokens: number) => tokens * 2,
  one: () => 1,
} as const;

const conversations = fc.record({
  window: fc.integer({ min: 4_000, max: 60_000 }),
  known: fc.constantFrom("known", "unknown", "too large"),
  words: fc.constantFrom(...WORDS),
  counts: fc.constantFrom(...(Object.keys(counts) as (keyof typeof counts)[])),
  // Percent of the window.
  turns: fc.array(
    fc.record({
      message: fc.integer({ min: 0, max: 40 }),
      results: fc.array(fc.integer({ min: 0, max: 200 }), { minLength: 2, maxLength: 8, size: "max" }),
    }),
    { minLength: 1, maxLength: 4, size: "max" },
  ),
});

const padded = (name: string, characters: number) => `${name} ${"lorem ipsum ".repeat(characters / 12)}`;

test("F89, F97: no turn of a random conversation ends for lack of room, whatever the known sizes, counts and reports", async () => {
  const numRuns = process.env.BANYAN_LONG ? 300 : 25;
  await fc.assert(
    fc.asyncProperty(conversations, async ({ window, known, words, counts: counted, turns }) => {
      const session = Session.inMemory();
      let left: number[] = [];
      let ran = 0;
      const model = limitedModel(
        (request: ModelRequest) =>
          isSummaryRequest(request) ? "What matters." : left.length > 0 ? [call("look")] : "Done.",
        { window, words, counts: counts[counted] },
      );
      const look = defineTool({
        name: "look",
        description: "Looks.",
        input: { type: "object" },
        effects: "none",
        execute: () => {
          ran++;
          return padded(`Seen ${ran}.`, ((left.shift() ?? 0) / 100) * window * 4);
        },
      });
      const sizes = { known: { contextSize: window }, unknown: {}, "too large": { contextSize: window * 5 } };
      const agent = new Agent({ model, tools: [look], compaction: sizes[known], limits: { steps: 100 } });
      let expected = 0;
      for (const { message, results } of turns) {
        left = [...results];
        expected += results.length;
        const said = padded("Look around.", (message / 100) * window * 4);
        expect(await agent.send(said, { session })).toMatchObject({ reason: "answered", text: "Done." });
        // The judge counts independently: characters of the sent request.
        expect(ran).toBe(expected);
      }
      expect(model.repeated).toEqual([]);
      expect(Math.max(...model.taken)).toBeLessThanOrEqual(window);
      expect(checkConversation(session.state)).toEqual([]);
      // The log has all results in full.
      const calls = pathTo(session.state, session.state.leaf).flatMap((one: Message) =>
        "calls" in one ? one.calls : [],
      );
      expect(calls.filter(({ output = "" }) => output.includes("were cut here"))).toEqual([]);
    }),
    { numRuns, seed: 20_261_129, endOnFailure: true },
  );
});
