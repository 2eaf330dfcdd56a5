import { ModelError } from "@banyan/core";
import type { ModelPart } from "@banyan/core/drivers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MessagesAnswer } from "./anthropic-messages/answer.ts";
import { GeminiAnswer } from "./gemini/answer.ts";
import { ChatAnswer } from "./openai-chat/answer.ts";
import { chunk, eventOf } from "./testing/server.ts";
import { joined } from "./testing/sink.ts";
import { EmptyChoices } from "./wire/answer-end.ts";
import { EventStreamDecoder } from "./wire/event-stream.ts";
import type { AnswerDecoder } from "./wire/response.ts";

// Generated answers, cut anywhere. The expected result is known from the generator.

const endpoint = { id: "p/m", model: "m", format: "m", address: "http://h/v1", keyVariable: undefined, secrets: [] };
const TOOLS = ["read", "read_file", "go", "goto", "search"];
const FORMATS = {
  chat: () => new ChatAnswer(endpoint, new Set(TOOLS)),
  messages: () => new MessagesAnswer(endpoint),
  gemini: () => new GeminiAnswer(endpoint),
};
type Format = keyof typeof FORMATS;

/** The content of an answer that arrives in these pieces. */
function read(format: Format, ...pieces: readonly Uint8Array[]): ModelPart[] {
  const answer: AnswerDecoder = FORMATS[format]();
  const events = new EventStreamDecoder((data) => answer.data(data));
  const parts: ModelPart[] = [];
  for (const piece of pieces) {
    events.push(Buffer.from(piece));
    parts.push(...answer.take());
  }
  events.end();
  answer.end();
  return joined([...parts, ...answer.take()]);
}

function errorOf(run: () => unknown): ModelError {
  try {
    run();
  } catch (error) {
    if (error instanceof ModelError) return error;
    throw error;
  }
  throw new Error("It did not fail.");
}

const event = (type: string, data: object) => `event: ${type}\n${eventOf({ type, ...data })}`;

/** The events of an answer with a text: before, with and after its finish reason. */
function answer(format: Format, texts: readonly string[], reason: string) {
  if (format === "chat")
    return {
      before: texts.map((content) => eventOf(chunk({ content }))),
      reason: eventOf(chunk({}, reason)),
      behind: [
        eventOf({ ...chunk({}), choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } }),
        eventOf("[DONE]"),
      ],
    };
  if (format === "gemini")
    return {
      before: texts.map((text) => eventOf({ candidates: [{ content: { parts: [{ text }] } }] })),
      reason: eventOf({ candidates: [{ finishReason: reason }] }),
      behind: [eventOf({ usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1 } })],
    };
  const message = { id: "m", model: "m", content: [], usage: { input_tokens: 1, output_tokens: 1 } };
  return {
    before: [
      event("message_start", { message }),
      event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
      ...texts.map((text) => event("content_block_delta", { index: 0, delta: { type: "text_delta", text } })),
      event("content_block_stop", { index: 0 }),
    ],
    reason: event("message_delta", { delta: { stop_reason: reason }, usage: { output_tokens: 1 } }),
    behind: [event("message_stop", {})],
  };
}

/** An event that only has counts. */
function countsOf(format: Format, input: number, output: number): string {
  switch (format) {
    case "chat":
      return eventOf({ ...chunk({}), choices: [], usage: { prompt_tokens: input, completion_tokens: output } });
    case "messages":
      return event("message_delta", { delta: {}, usage: { input_tokens: input, output_tokens: output } });
    case "gemini":
      return eventOf({ usageMetadata: { promptTokenCount: input, candidatesTokenCount: output } });
  }
}

const format = fc.constantFrom<Format>("chat", "messages", "gemini");
const words = fc.array(fc.string({ minLength: 1, maxLength: 12, unit: "grapheme" }), { minLength: 1, maxLength: 8 });
const SUCCESS = { chat: "stop", messages: "end_turn", gemini: "STOP" } as const;
const textIn = (parts: readonly ModelPart[]) => parts.map((part) => (part.type === "text" ? part.text : "")).join("");
const finishIn = (parts: readonly ModelPart[]) => parts.find((part) => part.type === "finish")?.reason;

test("F52: an unknown finish reason is no success, and causes at most one retry", () => {
  fc.assert(
    fc.property(format, words, fc.stringMatching(/^[a-z_]{1,20}$/), (format, texts, word) => {
      const reason = `odd_${word}`;
      const { before, reason: event, behind } = answer(format, texts, reason);
      const body = Buffer.from([...before, event, ...behind].join(""));
      const errors = [1, 2, 3].map(() => errorOf(() => read(format, body)));
      expect(errors.every(({ message }) => message.includes(`"${reason}"`))).toBe(true);
      expect(errors.slice(1).map(({ retryable }) => retryable)).toEqual([false, false]);
    }),
    { numRuns: 100 },
  );
});

test("F53: a cut after the finish reason leaves a complete answer, and a cut before it never does", () => {
  fc.assert(
    fc.property(format, words, fc.nat(), fc.string({ maxLength: 20 }), (format, texts, at, garbage) => {
      const { before, reason, behind } = answer(format, texts, SUCCESS[format]);
      const begin = Buffer.from([...before, reason].join(""));
      const rest = Buffer.from([...behind, `data: ${garbage.replace(/[\r\n]/g, " ")}\n\n`].join(""));
      const parts = read(format, begin, rest.subarray(0, at % (rest.length + 1)));
      expect([textIn(parts), finishIn(parts)]).toEqual([texts.join(""), "stop"]);
      const cut = begin.subarray(0, at % before.join("").length);
      expect(errorOf(() => read(format, cut)).code).toBe("broken-stream");
    }),
    { numRuns: 200 },
  );
});

test("F54: text in the start of a block counts, wherever its text is cut", () => {
  const block = fc.record({
    type: fc.constantFrom("text", "thinking"),
    said: fc.string({ minLength: 1, maxLength: 20 }),
    cut: fc.nat(20),
    signature: fc.option(fc.stringMatching(/^[a-z]{1,8}$/)),
  });
  fc.assert(
    fc.property(fc.array(block, { minLength: 1, maxLength: 5 }), (blocks) => {
      const events = blocks.flatMap(({ type, said, cut, signature }, index) => [
        event("content_block_start", {
          index,
          content_block: {
            type,
            [type]: said.slice(0, cut),
            ...(type === "thinking" && signature !== null && { signature }),
          },
        }),
        ...(said.slice(cut) === ""
          ? []
          : [event("content_block_delta", { index, delta: { type: `${type}_delta`, [type]: said.slice(cut) } })]),
        event("content_block_stop", { index }),
      ]);
      const { before, reason } = answer("messages", [], "end_turn");
      const parts = read("messages", Buffer.from([before[0], ...events, reason].join("")));
      const said = parts.flatMap((part) => {
        if (part.type === "text") return [`text ${part.text}`];
        if (part.type === "reasoning") return [`thinking ${part.text}`];
        return part.type === "part-end" && part.provider ? [`signature ${part.provider.anthropic?.signature}`] : [];
      });
      expect(said).toEqual(
        blocks.flatMap(({ type, said, signature }) => [
          `${type} ${said}`,
          ...(type === "thinking" && signature !== null ? [`signature ${signature}`] : []),
        ]),
      );
    }),
    { numRuns: 100 },
  );
});

test("F65: of repeated token counts, the last one above 0 counts", () => {
  const counts = fc.array(fc.tuple(fc.nat(3), fc.nat(3)), { minLength: 1, maxLength: 6 });
  const last = (numbers: readonly number[]) => numbers.findLast((number) => number > 0) ?? 0;
  fc.assert(
    fc.property(format, counts, (format, told) => {
      const { before, reason, behind } = answer(format, ["x"], SUCCESS[format]);
      const usages = told.map(([input, output]) => countsOf(format, input, output));
      const isMessages = format === "messages";
      const begin = isMessages
        ? [event("message_start", { message: { id: "m", content: [] } }), ...before.slice(1)]
        : before;
      const end = isMessages ? [reason.replace(/"usage":\{[^}]*\}/, '"usage":{}'), ...behind] : [reason];
      const finish = read(format, Buffer.from([...begin, ...usages, ...end].join(""))).at(-1);
      expect(finish).toMatchObject({
        usage: { input: last(told.map(([input]) => input)), output: last(told.map(([, output]) => output)) },
      });
    }),
    { numRuns: 100 },
  );
});

describe("F67: chunks without choices", () => {
  const empty = fc.constantFrom(
    '{"id":"c","choices":null}',
    '{"choices": []}',
    '{"choices":[],"usage":null}',
    '{"choices": null, "x": 1}',
  );

  test("change nothing at any place of an answer, and packages never see them, wherever the bytes are cut", () => {
    fc.assert(
      fc.property(
        words,
        fc.array(fc.tuple(fc.nat(), empty), { maxLength: 6 }),
        fc.integer({ min: 1, max: 40 }),
        (texts, more, size) => {
          const { before, reason, behind } = answer("chat", texts, "stop");
          const events = [...before, reason, ...behind];
          for (const [at, data] of more) events.splice(at % (events.length + 1), 0, eventOf(data));
          const body = Buffer.from(events.join(""));
          const pieces = Array.from({ length: Math.ceil(body.length / size) }, (_, at) =>
            body.subarray(at * size, (at + 1) * size),
          );
          expect(textIn(read("chat", ...pieces))).toBe(texts.join(""));
          const choices = new EmptyChoices();
          const shown = Buffer.concat([...pieces.map((piece) => choices.read(piece)), choices.rest]);
          expect(shown.toString()).not.toMatch(/"choices": ?(null|\[\])/);
          expect(textIn(read("chat", shown))).toBe(texts.join(""));
        },
      ),
      { numRuns: 100 },
    );
  });
});

test("F71: comments, `retry:`, `id:` and events without data change nothing at any place", () => {
  const noise = fc.constantFrom(
    ": comment\n\n",
    ":\n\n",
    "retry: 10\n\n",
    "id: 7\n\n",
    "event: done\n\n",
    "event: ping\nid: 1\n\n",
    "\n",
  );
  fc.assert(
    fc.property(format, words, fc.array(fc.tuple(fc.nat(), noise), { maxLength: 8 }), (format, texts, more) => {
      const { before, reason, behind } = answer(format, texts, SUCCESS[format]);
      const events = [...before, reason, ...behind];
      const plain = read(format, Buffer.from(events.join("")));
      for (const [at, data] of more) events.splice(at % (events.length + 1), 0, data);
      expect(read(format, Buffer.from(events.join("")))).toEqual(plain);
    }),
    { numRuns: 100 },
  );
});

describe("F63: calls in pieces", () => {
  const value = fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom("}", "{", '"}{"', "\\", "}{}"), fc.integer());
  const input = fc
    .dictionary(fc.stringMatching(/^[a-z]{1,4}$/), value, { maxKeys: 3 })
    .map((object) => JSON.stringify(object));
  const wanted = fc.record({ tool: fc.constantFrom(...TOOLS), input, cuts: fc.array(fc.nat(), { maxLength: 4 }) });
  const cut = (text: string, cuts: readonly number[]) => {
    const places = [0, ...cuts.map((at) => at % (text.length + 1)).sort((a, b) => a - b), text.length];
    return places.slice(1).map((end, index) => text.slice(places[index], end));
  };
  const heard = (parts: readonly ModelPart[]) => {
    const calls: { tool: string; text: string }[] = [];
    for (const part of parts) {
      if (part.type === "call") calls[part.index] = { tool: part.tool, text: "" };
      if (part.type === "call-input") (calls[part.index] as { text: string }).text += part.text;
    }
    return calls.map(({ tool, text }) => ({ tool, input: JSON.parse(text === "" ? "{}" : text) }));
  };
  const chatAnswer = (pieces: readonly object[]) => {
    const events = pieces.map((piece) => eventOf(chunk({ tool_calls: [piece] })));
    return read("chat", Buffer.from([...events, eventOf(chunk({}, "tool_calls"))].join("")));
  };
  /** Habits of servers with a call, apart from cutting it. */
  const habit = fc.constantFrom(
    "plain",
    "name in pieces",
    "name so far",
    "name each time",
    "twice",
    "empty first",
    "twice in pieces",
  );

  test("names and arguments, cut anywhere, repeated, or empty first, make the calls that were meant", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(wanted, habit), { minLength: 1, maxLength: 4 }), fc.boolean(), (calls, zero) => {
        const pieces = calls.flatMap(([{ tool, input, cuts }, how], at) => {
          const index = zero ? 0 : at;
          const id = `call_${at}`;
          const names = cut(tool, cuts).filter((name) => name !== "");
          const inputs = cut(input, cuts).map((text) => ({ index, function: { arguments: text } }));
          const begin = { index, id, function: { name: tool, arguments: "" } };
          switch (how) {
            case "name in pieces":
              return [
                ...names.map((name, first) => ({ index, ...(first === 0 && { id }), function: { name } })),
                ...inputs,
              ];
            case "name so far":
              return [
                ...names.map((_, last) => ({ index, id, function: { name: names.slice(0, last + 1).join("") } })),
                ...inputs,
              ];
            case "name each time":
              return inputs.map((piece) => ({ index, id, function: { name: tool, ...piece.function } }));
            case "twice":
              return [begin, ...inputs, { index, function: { arguments: input } }];
            case "twice in pieces":
              return [begin, ...inputs, ...inputs];
            case "empty first":
              return [begin, { index, function: { arguments: "{}" } }, ...inputs];
            default:
              return [begin, ...inputs];
          }
        });
        const meant = calls.map(([{ tool, input }]) => ({ tool, input: JSON.parse(input) }));
        expect(heard(chatAnswer(pieces))).toEqual(meant);
      }),
      { numRuns: 300 },
    );
  });

  test("the same arguments, cut anywhere and sent again, at Anthropic", () => {
    fc.assert(
      fc.property(fc.array(wanted, { minLength: 1, maxLength: 3 }), fc.boolean(), (calls, again) => {
        const { before, reason } = answer("messages", [], "tool_use");
        const events = calls.flatMap(({ tool, input, cuts }, index) => [
          event("content_block_start", {
            index,
            content_block: { type: "tool_use", id: `c${index}`, name: tool, input: {} },
          }),
          ...[...cut(input, cuts), ...(again ? [input] : [])].map((partial_json) =>
            event("content_block_delta", { index, delta: { type: "input_json_delta", partial_json } }),
          ),
          event("content_block_stop", { index }),
        ]);
        const parts = read("messages", Buffer.from([before[0], ...events, reason].join("")));
        expect(heard(parts)).toEqual(calls.map(({ tool, input }) => ({ tool, input: JSON.parse(input) })));
      }),
      { numRuns: 100 },
    );
  });

  test.each<[string, readonly object[], readonly object[]]>([
    [
      "name-in-pieces",
      [
        { index: 0, id: "a", function: { name: "re" } },
        { index: 0, function: { name: "ad" } },
        { index: 0, function: { arguments: "{}" } },
      ],
      [{ tool: "read", input: {} }],
    ],
    [
      "args-twice",
      [
        { index: 0, id: "a", function: { name: "read", arguments: "" } },
        { index: 0, function: { arguments: '{"path":"a"}' } },
        { index: 0, function: { arguments: '{"path":"a"}' } },
      ],
      [{ tool: "read", input: { path: "a" } }],
    ],
    [
      "two tools without ids and arguments, all with index 0",
      [
        { index: 0, function: { name: "read" } },
        { index: 0, function: { name: "search" } },
      ],
      [
        { tool: "read", input: {} },
        { tool: "search", input: {} },
      ],
    ],
  ])("%s", (_, pieces, meant) => expect(heard(chatAnswer(pieces))).toEqual(meant));
});
