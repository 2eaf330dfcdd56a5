import { ModelError } from "@banyan/core";
import { describe, expect, test } from "vitest";
import { formats } from "./formats.ts";
import { play, type Reply } from "./play.ts";

const refused = (status: number, message: string, retryAfter?: number): Reply => ({
  response: { error: { message }, status, ...(retryAfter === undefined ? {} : { retryAfter }) },
});
const answered: Reply = { response: { content: "Good morning." } };

describe("over HTTP, on every format,", () => {
  test.each([
    [401, "Incorrect API key provided", "authentication", false],
    [403, "Not from here", "authentication", false],
    [404, "The model does not exist", "unknown-model", false],
    [400, "The prompt is too long: 210000 tokens, the context length is 200000", "context-overflow", false],
    [400, "The temperature is wrong", "invalid-request", false],
    [402, "Pay first", "quota", false],
    [429, "Slow down", "rate-limit", true],
    [500, "Oops", "provider", true],
    [503, "Busy", "overloaded", true],
    [529, "Overloaded", "overloaded", true],
  ])(
    "F14: an answer of %i, %s, fails the turn as %s, and the conversation continues",
    async (status, message, code, retryable) => {
      const scenario = {
        says: ["Hello", "Hello?"],
        agent: { retry: { attempts: 1 } },
        replies: [refused(status, message), answered],
      };
      for (const { shape, turns } of await Promise.all(formats.map((format) => play(format, scenario)))) {
        const [turn] = turns;
        expect(turn).toMatchObject({ reason: "failed", message: undefined, error: { code } });
        expect(turn?.error?.message).toContain(message);
        expect(turn?.error?.cause).toBeInstanceOf(ModelError);
        expect(turn?.error?.cause).toMatchObject({ status, retryable });
        expect(shape).toEqual({
          messages: [
            { by: "user", text: "Hello" },
            { by: "user", text: "Hello?" },
            { by: "assistant", text: "Good morning.", finish: "stop", counted: true },
          ],
          ended: "answered",
        });
      }
    },
  );

  test.each([429, 500, 503, 529])("F14: %i causes a retry", async (status) => {
    const scenario = {
      says: ["Hello"],
      agent: { retry: { attempts: 2, delay: 1 } },
      replies: [refused(status, "Later", 0.01), answered],
    };
    for (const { turns, journal } of await Promise.all(formats.map((format) => play(format, scenario)))) {
      expect(turns).toMatchObject([{ reason: "answered", text: "Good morning.", steps: 1 }]);
      expect(journal).toHaveLength(2);
    }
  });

  test("F14: a provider whose wait is too long gets no retry, and the error names the wait", async () => {
    const scenario = {
      says: ["Hello"],
      agent: { retry: { attempts: 4, delay: 1, time: 6000 } },
      replies: [refused(429, "Later", 7)],
    };
    for (const { turns, journal } of await Promise.all(formats.map((format) => play(format, scenario)))) {
      expect(turns).toMatchObject([{ reason: "failed", error: { code: "rate-limit", cause: { retryAfter: 7000 } } }]);
      expect(journal).toHaveLength(1);
    }
  });
});
