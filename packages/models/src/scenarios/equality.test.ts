import { ModelError, type ModelPart } from "@banyan/core";
import { describe, expect, test } from "vitest";
import { MessagesAnswer } from "../anthropic-messages/answer.ts";
import { ChatAnswer } from "../openai-chat/answer.ts";
import { serve } from "../testing/server.ts";
import { joined, KeepingSink, say } from "../testing/sink.ts";
import type { Endpoint } from "../wire/errors.ts";
import { EventStreamDecoder } from "../wire/event-stream.ts";
import type { Answer } from "../wire/response.ts";
import { breaks } from "./breaks.ts";
import { type Format, formats, openAt } from "./formats.ts";
import { type Played, play, type Scenario } from "./play.ts";
import { scenarios } from "./scenarios.ts";

/** A driver of our own, and what the provider's package does otherwise. */
interface Own {
  readonly format: Format;
  answer(endpoint: Endpoint): Answer;
  /** Whether the package knows all that happens in a scenario. */
  knows(scenario: Scenario): boolean;
  /** A request of either, without what differs. */
  request(body: unknown): unknown;
  /** The parts of an answer, without what differs. */
  parts(parts: readonly ModelPart[]): readonly ModelPart[];
}

const anthropic: Own = {
  format: formatOf("Anthropic"),
  answer: (endpoint) => new MessagesAnswer(endpoint),
  knows: () => true,
  request: (body) => body,
  parts: (parts) => parts,
};

interface ChatBody {
  readonly tool_choice?: string;
  readonly messages: readonly { readonly role: string; readonly content: string | null }[];
}

const chat: Own = {
  format: formatOf("OpenAI chat"),
  answer: (endpoint) => new ChatAnswer(endpoint),
  // OpenAI itself shows no reasoning in this format, and its package reads none.
  knows: ({ replies }) => replies.every(({ response }) => !("reasoning" in response)),
  request: (body) => {
    const { tool_choice, messages, ...rest } = body as ChatBody;
    return {
      ...rest,
      ...(tool_choice === undefined || tool_choice === "auto" ? {} : { tool_choice }),
      messages: messages.map((message) => ({ ...message, content: withoutWrapping(message.content) })),
    };
  },
  // The package says where a text ends, and ends all calls together.
  parts: (parts) => parts.filter(({ type }) => type !== "part-end" && type !== "call-end"),
};

/** The package wraps what is told of a call that failed. */
function withoutWrapping(content: string | null): string | null {
  return content?.startsWith('{"error":') ? (JSON.parse(content) as { error: string }).error : content;
}

function formatOf(name: string): Format {
  const format = formats.find((one) => one.name === name);
  if (!format) throw new Error(`There is no format "${name}".`);
  return format;
}

interface Decoded {
  readonly parts: ModelPart[];
  /** The code of the error with which it broke. */
  readonly broke: string | undefined;
}

/** What our own driver makes of an answer that comes in these pieces. */
function decode({ format, answer: open }: Own, pieces: readonly Buffer[]): Decoded {
  const model = format.model.split("/")[1] ?? "";
  const answer = open({
    id: format.model,
    model,
    format: "",
    address: "http://m",
    keyVariable: undefined,
    secrets: [],
  });
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

/** What the provider's package makes of the same answer. */
async function decodedByPackage({ format }: Own, bytes: Buffer): Promise<Decoded> {
  await using server = await serve((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" }).end(bytes);
  });
  const driver = await openAt({ ...format, throughPackage: true }, server.baseURL);
  const sink = new KeepingSink();
  const broke = await driver.stream(say("Hello"), sink, new AbortController().signal).then(
    () => undefined,
    (error: ModelError) => error.code,
  );
  return { parts: sink.parts, broke };
}

/** The bodies of all requests, without the words for a connection that broke and what differs otherwise. */
function requestsOf({ request }: Own, { requests }: Played): unknown[] {
  return requests.map(({ text }) => request(JSON.parse(text.replaceAll(/the answer broke off: [^"\\]*/g, "broken"))));
}

describe.each([anthropic, chat])("our own driver for $format.name", (own) => {
  test.each([...scenarios, ...breaks])(
    "F13: is equal to the provider's package, request by request and part by part, wherever its answers are split: $name",
    async (scenario) => {
      const known = own.knows(scenario);
      const [played, peer] = await Promise.all([
        play(own.format, scenario),
        known ? play({ ...own.format, throughPackage: true }, scenario) : undefined,
      ]);
      if (peer) {
        expect(peer.shape).toStrictEqual(played.shape);
        expect(requestsOf(own, peer)).toEqual(requestsOf(own, played));
      }
      expect(played.answers).toHaveLength(scenario.replies.length);
      for (const bytes of played.answers) {
        const whole = decode(own, [bytes]);
        expect(whole.parts.length).toBeGreaterThan(0);
        if (known) {
          const { parts, broke } = await decodedByPackage(own, bytes);
          expect({ parts: own.parts(whole.parts), broke: whole.broke }).toEqual({ parts: own.parts(parts), broke });
        }
        expect(
          decode(
            own,
            Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)),
          ),
        ).toEqual(whole);
        const expected = JSON.stringify(whole);
        for (let at = 1; at < bytes.length; at++) {
          // Compared as text: thousands of deep comparisons would take most of the time.
          const split = JSON.stringify(decode(own, [bytes.subarray(0, at), bytes.subarray(at)]));
          if (split !== expected) expect(JSON.parse(split), `split at byte ${at}`).toEqual(whole);
        }
      }
    },
    // Thousands of splits: work, which takes its time where others work too.
    120_000,
  );
});
