import { ModelError } from "@banyan/core";
import type { ModelPart } from "@banyan/core/drivers";
import { describe, expect, test } from "vitest";
import { MessagesAnswer } from "../../anthropic-messages/answer.ts";
import { GeminiAnswer } from "../../gemini/answer.ts";
import { ChatAnswer } from "../../openai-chat/answer.ts";
import { ResponsesAnswer } from "../../openai-responses/answer.ts";
import { hostedTools } from "../../openai-responses/server-tools.ts";
import type { Endpoint } from "../../wire/errors.ts";
import { EventStreamDecoder } from "../../wire/event-stream.ts";
import type { AnswerDecoder } from "../../wire/response.ts";
import { chunk, eventOf, serve } from "../server.ts";
import { joined, KeepingSink, say } from "../sink.ts";
import { breaks } from "./breaks.ts";
import { type Format, formats, openAt } from "./formats.ts";
import { type Played, play } from "./play.ts";
import { scenarios } from "./scenarios.ts";

/** A driver of our own, and its known differences from the provider's package. */
interface Own {
  readonly format: Format;
  answer(endpoint: Endpoint): AnswerDecoder;
  /** A request of either driver, without the differences. */
  request(body: unknown): unknown;
  /** The parts of an answer, without the differences. */
  parts(parts: readonly ModelPart[]): readonly ModelPart[];
}

const anthropic: Own = {
  format: formatOf("Anthropic"),
  answer: (endpoint) => new MessagesAnswer(endpoint),
  request: (body) => body,
  parts: (parts) => parts,
};

const chat: Own = {
  format: formatOf("OpenAI chat"),
  answer: (endpoint) => new ChatAnswer(endpoint),
  // The package sets the default `tool_choice` in each request with tools. Our driver omits the field, which not all
  // servers know.
  request: (body) => {
    const { tool_choice, ...rest } = body as { readonly tool_choice?: string };
    return tool_choice === "auto" ? rest : body;
  },
  // The package marks the end of each text; our driver only marks the end of reasoning, to keep its field. The package ends
  // all calls with the stream, even a broken one; our driver ends each call once it is whole, so that it can begin.
  parts: (parts) => parts.filter(({ type }) => type !== "part-end" && type !== "call-end"),
};

const gemini: Own = {
  format: formatOf("Gemini"),
  answer: (endpoint) => new GeminiAnswer(endpoint),
  request: (body) => body,
  parts: (parts) => parts,
};

const responses: Own = {
  format: formatOf("OpenAI responses"),
  answer: (endpoint) =>
    new ResponsesAnswer(endpoint, { provider: "openai", offered: new Set(), hosted: hostedTools({}, "openai") }),
  // The mock gives each reasoning another id.
  request: (body) => JSON.parse(JSON.stringify(body).replace(/"(id|encrypted_content)":"[^"]*"/g, '"$1":"r"')),
  parts: (parts) => parts,
};

function formatOf(name: string): Format {
  const format = formats.find((one) => one.name === name);
  if (!format) throw new Error(`There is no format "${name}".`);
  return format;
}

interface Decoded {
  readonly parts: ModelPart[];
  /** The code of the error that ended it. */
  readonly broke: string | undefined;
}

/** Our own driver's result for an answer that arrives in these pieces. */
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

/** The package's result for the same answer. */
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

/** The bodies of all requests, without the text about a broken connection and the known differences. */
function requestsOf({ request }: Own, { requests }: Played): unknown[] {
  return requests.map(({ text }) => request(JSON.parse(text.replaceAll(/the answer broke off: [^"\\]*/g, "broken"))));
}

describe.each([anthropic, chat, gemini, responses])("our own driver for $format.name", (own) => {
  const { callsComeWhole } = own.format;
  test.each([...scenarios, ...breaks].filter(({ breaksCalls }) => !(breaksCalls && callsComeWhole)))(
    "F13: is equal to the provider's package, request by request and part by part, wherever its answers are split: $name",
    async (scenario) => {
      const [played, peer] = await Promise.all([
        play(own.format, scenario),
        play({ ...own.format, throughPackage: true }, scenario),
      ]);
      expect(peer.shape).toStrictEqual(played.shape);
      expect(requestsOf(own, peer)).toEqual(requestsOf(own, played));
      expect(played.answers).toHaveLength(scenario.replies.length);
      for (const bytes of played.answers) {
        const whole = decode(own, [bytes]);
        expect(whole.parts.length).toBeGreaterThan(0);
        const { parts, broke } = await decodedByPackage(own, bytes);
        expect({ parts: own.parts(whole.parts), broke: whole.broke }).toEqual({ parts: own.parts(parts), broke });
        expect(
          decode(
            own,
            Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)),
          ),
        ).toEqual(whole);
        const expected = JSON.stringify(whole);
        for (let at = 1; at < bytes.length; at++) {
          // Compare as text: thousands of deep comparisons would take most of the time.
          const split = JSON.stringify(decode(own, [bytes.subarray(0, at), bytes.subarray(at)]));
          if (split !== expected) expect(JSON.parse(split), `split at byte ${at}`).toEqual(whole);
        }
      }
    },
  );
});

const call = (piece: object) => chunk({ tool_calls: [piece] });
const look = { name: "look", arguments: "" };

/** Answers in the chat format that the mock cannot produce. */
const rarer: Readonly<Record<string, readonly (object | string)[]>> = {
  "a refusal": [chunk({ refusal: "I will" }), chunk({ refusal: " not." }), chunk({}, "stop")],
  "reasoning under its other name": [chunk({ reasoning: "Hm" }), chunk({ content: "A" }, "stop")],
  "reasoning under both names": [chunk({ reasoning: "Hm", reasoning_content: "Hm" }), chunk({ content: "A" }, "stop")],
  "reasoning between texts": [chunk({ content: "A" }), chunk({ reasoning: "Hm" }), chunk({ content: "B" }, "stop")],
  "content in segments": [
    chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text: "Hm" }] }] }),
    chunk({ content: [{ type: "text", text: "A" }] }, "stop"),
  ],
  "a call before its name": [
    call({ index: 0, id: "a", function: { arguments: '{"at":' } }),
    call({ index: 0, function: { name: "look", arguments: "1}" } }),
    chunk({}, "tool_calls"),
  ],
  "calls without an index": [
    call({ id: "a", function: { ...look, arguments: '{"at":1}' } }),
    call({ id: "b", function: { ...look, arguments: '{"at":2}' } }),
    chunk({}, "stop"),
  ],
  "calls that take turns": [
    call({ index: 0, id: "a", function: look }),
    call({ index: 1, id: "b", function: look }),
    call({ index: 0, function: { arguments: "{}" } }),
    call({ index: 1, function: { arguments: "{}" } }),
    chunk({}, "tool_calls"),
  ],
  "a cut at the limit": [chunk({ content: "A" }, "length")],
  "a filter": [chunk({ content: "A" }, "content_filter")],
  "another model, and the usage in full": [
    { ...chunk({ content: "A" }, "stop"), model: "gpt-5-2026" },
    {
      choices: [],
      usage: {
        prompt_tokens: 10,
        completion_tokens: 8,
        total_tokens: 18,
        prompt_tokens_details: { cached_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 3 },
      },
    },
  ],
  "an error in its midst": [chunk({ content: "A" }), { error: { message: "Overloaded", type: "overloaded_error" } }],
  "what is no JSON": [chunk({ content: "A" }), "{"],
};

test.each(Object.entries(rarer))(
  "F13: our own driver for OpenAI chat is equal to the package for %s",
  async (_, events) => {
    const bytes = Buffer.from([...events, "[DONE]"].map(eventOf).join(""));
    const own = decode(chat, [bytes]);
    const theirs = await decodedByPackage(chat, bytes);
    expect(own.parts.length).toBeGreaterThan(0);
    expect({ ...own, parts: chat.parts(own.parts) }).toEqual({ ...theirs, parts: chat.parts(theirs.parts) });
  },
);
