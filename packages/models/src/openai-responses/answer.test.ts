import { ModelError } from "@banyan/core";
import type { ModelPart } from "@banyan/core/drivers";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { eventOf } from "../testing/server.ts";
import { joined } from "../testing/sink.ts";
import { EventStreamDecoder } from "../wire/event-stream.ts";
import { ResponsesAnswer } from "./answer.ts";
import { answers, any } from "./generated.fixture.ts";
import type { ResponsesProvider } from "./provider.ts";
import { hostedTools } from "./server-tools.ts";

const endpoint = { id: "p/m", model: "m", format: "m", address: "http://h/v1", keyVariable: undefined, secrets: [] };

function open(offered: readonly string[] = [], provider: ResponsesProvider = "openai"): ResponsesAnswer {
  return new ResponsesAnswer(endpoint, { provider, offered: new Set(offered), hosted: hostedTools({}, provider) });
}

/** The parts of an answer that arrives in these pieces. */
function read(pieces: readonly Uint8Array[], answer = open()): ModelPart[] {
  const events = new EventStreamDecoder((data) => answer.data(data));
  const parts: ModelPart[] = [];
  for (const piece of pieces) {
    events.push(piece);
    parts.push(...answer.take());
  }
  events.end();
  answer.end();
  return joined([...parts, ...answer.take()]);
}

const bytes = (...events: readonly (object | string)[]) => [Buffer.from(events.map(eventOf).join(""))];

function errorOf(run: () => unknown): ModelError {
  try {
    run();
  } catch (error) {
    if (error instanceof ModelError) return error;
    throw error;
  }
  throw new Error("It did not fail.");
}

const added = (output_index: number, item: object) => ({ type: "response.output_item.added", output_index, item });
const done = (output_index: number, item: object) => ({ type: "response.output_item.done", output_index, item });
const said = (delta: string, output_index = 0) => ({ type: "response.output_text.delta", output_index, delta });
const usage = { input_tokens: 10, output_tokens: 3, input_tokens_details: { cached_tokens: 4 } };
const completed = { type: "response.completed", response: { model: "m", usage } };
const finish = {
  type: "finish",
  reason: "stop",
  usage: { input: 10, cached: 4, cacheWrite: 0, output: 3, reasoning: 0 },
};
const text = (...words: readonly string[]) =>
  words.map((word) => ({ type: "output_text", text: word, annotations: [] }));
const message = { type: "message", id: "msg_1" };

describe("content in other places than the documented ones counts (F54)", () => {
  const whole = [
    { type: "text", text: "Figs." },
    { type: "part-end", provider: { openai: { itemId: "msg_1" } } },
    finish,
  ];

  test.each([
    ["in the end of its item", [added(0, message), done(0, { ...message, content: text("Fi", "gs.") }), completed]],
    ["in an item that never began", [done(0, { ...message, content: text("Figs.") }), completed]],
    [
      "in the end of its text",
      [
        added(0, message),
        { type: "response.output_text.done", output_index: 0, text: "Figs." },
        done(0, message),
        completed,
      ],
    ],
    [
      "in the end of the answer",
      [{ ...completed, response: { ...completed.response, output: [{ ...message, content: text("Figs.") }] } }],
    ],
    [
      "in an answer that does not stream",
      [
        {
          object: "response",
          status: "completed",
          usage,
          model: "m",
          output: [{ ...message, content: text("Figs.") }],
        },
      ],
    ],
  ])("a text %s", (_, events) => expect(read(bytes(...events))).toEqual(whole));

  test("text without items", () => {
    expect(read(bytes(said("Fi"), said("gs."), completed))).toEqual([
      { type: "text", text: "Figs." },
      { type: "part-end" },
      finish,
    ]);
  });

  test("arguments and reasoning only in the end of their items", () => {
    const call = { type: "function_call", id: "fc_1", call_id: "call_1", name: "look", arguments: '{"at":1}' };
    const thought = { type: "reasoning", id: "rs_1", encrypted_content: "e", summary: [{ text: "Hm" }] };
    expect(read(bytes(done(0, thought), done(1, call), completed))).toEqual([
      { type: "reasoning", text: "Hm" },
      { type: "part-end", provider: { openai: { itemId: "rs_1", reasoningEncryptedContent: "e" } } },
      { type: "call", index: 0, id: "call_1", tool: "look" },
      { type: "call-input", index: 0, text: '{"at":1}' },
      { type: "call-end", index: 0, provider: { openai: { itemId: "fc_1" } } },
      { ...finish, reason: "calls" },
    ]);
  });

  test("a call without an end of its item", () => {
    const call = { type: "function_call", id: "fc_1", call_id: "call_1", name: "look", arguments: "" };
    const delta = { type: "response.function_call_arguments.delta", output_index: 0, delta: "{}" };
    expect(read(bytes(added(0, call), delta, completed)).map(({ type }) => type)).toEqual([
      "call",
      "call-input",
      "call-end",
      "finish",
    ]);
  });
});

test("ids that differ between the events of an item are one item", () => {
  const events = [
    added(0, message),
    { ...said("Fi"), item_id: "msg_2" },
    { ...said("gs."), item_id: "msg_3" },
    done(0, { ...message, id: "msg_4", phase: "final_answer" }),
    completed,
  ];
  expect(read(bytes(...events))).toEqual([
    { type: "text", text: "Figs." },
    { type: "part-end", provider: { openai: { itemId: "msg_1", phase: "final_answer" } } },
    finish,
  ]);
});

describe("calls of `parallel`, a tool that the request does not have", () => {
  const input = JSON.stringify({
    tool_uses: [
      { recipient_name: "functions.look", parameters: { at: "a" } },
      { recipient_name: "functions.look", parameters: { at: "b" } },
    ],
  });
  const wrapper = { type: "function_call", id: "fc_1", call_id: "call_1", name: "parallel", arguments: "" };
  const events = [added(0, wrapper), done(0, { ...wrapper, arguments: input }), completed];
  const tools = (parts: readonly ModelPart[]) =>
    parts.flatMap((part) =>
      part.type === "call" ? `${part.id} ${part.tool}` : part.type === "call-input" ? part.text : [],
    );

  test("are the calls inside", () => {
    expect(tools(read(bytes(...events), open(["look"])))).toEqual([
      "call_1_0 look",
      '{"at":"a"}',
      "call_1_1 look",
      '{"at":"b"}',
    ]);
  });

  test("stay one call if a tool is unknown, or if the request has such a tool", () => {
    expect(tools(read(bytes(...events)))).toEqual(["call_1 parallel", input]);
    expect(tools(read(bytes(...events), open(["look", "parallel"])))).toEqual(["call_1 parallel", input]);
  });
});

describe("the end of an answer", () => {
  test.each([
    ["server_error", "provider"],
    ["insufficient_quota", "quota"],
    ["context_length_exceeded", "context-overflow"],
  ])("F55: an error in it is an error: %s", (code, expected) => {
    const failed = { type: "response.failed", response: { error: { code, message: "No." } } };
    expect(errorOf(() => read(bytes(said("Half"), failed)))).toMatchObject({ code: expected });
  });

  test("F52: an unknown reason is never success", () => {
    for (const event of [
      { type: "response.incomplete", response: { incomplete_details: { reason: "moon_phase" } } },
      { type: "response.cancelled", response: {} },
      { type: "response.failed", response: {} },
    ])
      expect(errorOf(() => read(bytes(said("Half"), event)))).toMatchObject({ code: "provider" });
  });

  test("F53: nothing behind it matters, and without it the answer is broken", () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(), (garbage, at) => {
        const [before, last] = [bytes(added(0, message), said("Figs."), done(0, message)), bytes(completed)];
        const behind = Buffer.from(`data: ${garbage.replace(/[\r\n]/g, " ")}\n\n`);
        expect(read([...before, ...last, behind]).at(-1)).toEqual(finish);
        const [begin] = before as [Buffer];
        expect(errorOf(() => read([begin.subarray(0, at % begin.length)]))).toMatchObject({ code: "broken-stream" });
      }),
    );
  });

  test("chat completions are named, with the provider that reads them", () => {
    const chunk = { object: "chat.completion.chunk", choices: [{ delta: { content: "Hi" } }] };
    expect(errorOf(() => read(bytes(chunk)))).toMatchObject({
      code: "invalid-request",
      message: expect.stringContaining("openai-compatible"),
    });
  });
});

test("F13: generated answers are the same wherever they are cut", () => {
  const outcome = (pieces: readonly Uint8Array[]) => {
    try {
      return read(pieces);
    } catch (error) {
      return String(error);
    }
  };
  fc.assert(
    fc.property(answers(any), (events) => {
      const [body] = bytes(...events) as [Buffer];
      const expected = JSON.stringify(outcome([body]));
      for (let at = 1; at < body.length; at += 5)
        expect(JSON.stringify(outcome([body.subarray(0, at), body.subarray(at)]))).toBe(expected);
    }),
    { numRuns: 4 },
  );
});

describe("V1: the text of a long answer is read without parsing its events", () => {
  const long = (length: number, more: (index: number) => object = () => ({})) => [
    added(0, message),
    ...Array.from({ length }, (_, index) => ({
      type: "response.output_text.delta",
      sequence_number: 990 + index,
      item_id: "msg_1",
      output_index: 0,
      content_index: 0,
      delta: ` word "${index}"\n`,
      logprobs: [],
      ...more(index),
    })),
    done(0, message),
    completed,
  ];

  test("only its first events are parsed", () => {
    const answer = open();
    const parse = vi.spyOn(JSON, "parse");
    for (const event of long(500, (index) => ({ delta: ` word ${index}` }))) answer.data(JSON.stringify(event));
    const { length } = parse.mock.calls;
    parse.mockRestore();
    answer.end();
    expect(length).toBeLessThan(30);
  });

  test("and is the same as with every event parsed", () => {
    const fragment = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom('"sequence_number":7', '"', "\\", "é"));
    fc.assert(
      fc.property(fc.array(fragment, { minLength: 20, maxLength: 40 }), fc.nat(), (fragments, begin) => {
        const events = [
          added(0, message),
          ...fragments.map((delta, index) => ({
            type: said("").type,
            sequence_number: begin + index,
            output_index: 0,
            delta,
          })),
          done(0, message),
          completed,
        ];
        const [first] = read(bytes(...events));
        const whole = fragments.join("");
        expect(first).toEqual({ type: "text", text: whole });
      }),
      { numRuns: 30 },
    );
  });
});
