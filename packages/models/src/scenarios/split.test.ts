import { ModelError, type ModelPart } from "@banyan/core";
import { expect, test } from "vitest";
import { ChatAnswer } from "../openai-chat/answer.ts";
import { EventStreamDecoder } from "../openai-chat/event-stream.ts";
import { joined } from "../testing/sink.ts";
import { breaks } from "./breaks.ts";
import { formats } from "./formats.ts";
import { play } from "./play.ts";
import { scenarios } from "./scenarios.ts";

const endpoint = { id: "mine/m", model: "m", address: "http://m", keyVariable: undefined, secrets: [] };

/** What our own driver makes of an answer that comes in these pieces: its parts, and how it broke if it did. */
function decode(pieces: readonly Buffer[]): { parts: ModelPart[]; broke: string | undefined } {
  const answer = new ChatAnswer(endpoint);
  const events = new EventStreamDecoder((data) => answer.data(data));
  const parts: ModelPart[] = [];
  let broke: string | undefined;
  try {
    for (const piece of pieces) {
      events.push(piece);
      parts.push(...answer.take());
    }
    events.end();
    answer.end();
  } catch (error) {
    broke = error instanceof ModelError ? error.code : String(error);
  }
  parts.push(...answer.take());
  return { parts: joined(parts), broke };
}

const chat = formats.find(({ name }) => name === "OpenAI chat");

test.each([...scenarios, ...breaks])(
  "F13: every answer of a scenario, split at every byte: $name",
  async (scenario) => {
    if (!chat) throw new Error("There is no format for OpenAI chat.");
    const { answers } = await play(chat, scenario);
    expect(answers).toHaveLength(scenario.replies.length);
    for (const bytes of answers) {
      const whole = decode([bytes]);
      expect(whole.parts.length).toBeGreaterThan(0);
      expect(decode(Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)))).toEqual(whole);
      const expected = JSON.stringify(whole);
      for (let at = 1; at < bytes.length; at++) {
        // Compared as text: thousands of deep comparisons would take most of the time.
        const split = JSON.stringify(decode([bytes.subarray(0, at), bytes.subarray(at)]));
        if (split !== expected) expect(JSON.parse(split), `split at byte ${at}`).toEqual(whole);
      }
    }
  },
  // Thousands of splits: work, which takes its time where others work too.
  120_000,
);
