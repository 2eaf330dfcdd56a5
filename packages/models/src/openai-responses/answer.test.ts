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
    const thinking = { ...thought, encrypted_content: "e", summary: [{ text: "Hm" }] };
    expect(read(bytes(done(0, thinking), done(1, { ...call, arguments: input }), completed))).toEqual([
      { type: "reasoning", text: "Hm" },
      { type: "part-end", provider: { openai: { itemId: "rs_1", reasoningEncryptedContent: "e" } } },
      ...called,
    ]);
  });

  const call = { type: "function_call", id: "fc_1", call_id: "call_1", name: "look", arguments: "" };
  const thought = { type: "reasoning", id: "rs_1", summary: [] };
  const input = '{"at":1}';
  const called = [
    { type: "call", index: 0, id: "call_1", tool: "look" },
    { type: "call-input", index: 0, text: input },
    { type: "call-end", index: 0, provider: { openai: { itemId: "fc_1" } } },
    { ...finish, reason: "calls" },
  ];

  test("fragments with only the id of their item, or with neither id nor index", () => {
    const items = [added(0, message), { item_id: "msg_1" }, done(0, { ...message, content: text("Figs.") }), completed];
    for (const place of [{ item_id: "msg_1" }, {}]) {
      const events = items.map((item) =>
        "item_id" in item ? { ...said("Figs."), output_index: undefined, ...place } : item,
      );
      expect(read(bytes(...events))).toEqual(whole);
    }
  });

  test("arguments only in their own end, or only in the end of the answer", () => {
    const ended = { type: "response.function_call_arguments.done", output_index: 0, arguments: input };
    const output = [{ ...call, arguments: input }];
    expect(read(bytes(added(0, call), ended, completed))).toEqual(called);
    expect(read(bytes(added(0, call), { ...completed, response: { ...completed.response, output } }))).toEqual(called);
    expect(read(bytes(added(0, call), ended, done(0, { ...call, arguments: input }), completed))).toEqual(called);
  });

  test("a refusal and reasoning only in the ends of their texts", () => {
    const refused = { type: "response.refusal.done", output_index: 0, refusal: "No." };
    expect(read(bytes(added(0, message), refused, done(0, message), completed))).toEqual([
      { type: "text", text: "No." },
      { type: "part-end", provider: { openai: { itemId: "msg_1" } } },
      { ...finish, reason: "filtered" },
    ]);
    const ends = ["Hm.", "So."].map((text, summary_index) => {
      return { type: "response.reasoning_summary_text.done", output_index: 0, summary_index, text };
    });
    const parts = read(bytes(added(0, thought), ...ends, done(0, thought), completed));
    expect(parts.flatMap((part) => (part.type === "reasoning" ? part.text : []))).toEqual(["Hm.", "So."]);
  });

  test("a repeated end of an item counts once", () => {
    const ends = [done(0, { ...message, content: text("Figs.") }), done(1, { ...call, arguments: input })];
    const twice = ends.flatMap((end) => [end, end]);
    expect(read(bytes(...twice, completed))).toEqual(read(bytes(...ends, completed)));
  });

  test("encrypted reasoning that ends after the begin of the next item", () => {
    const events = [
      added(0, thought),
      { type: "response.reasoning_summary_text.delta", output_index: 0, summary_index: 0, delta: "Hm." },
      added(1, message),
      said("Fi", 1),
      done(0, { ...thought, encrypted_content: "e" }),
      said("gs.", 1),
      done(1, message),
      completed,
    ];
    const parts = read(bytes(...events));
    expect(parts.flatMap((part) => (part.type === "text" ? part.text : [])).join("")).toBe("Figs.");
    expect(parts).toContainEqual({
      type: "part-end",
      provider: { openai: { itemId: "rs_1", reasoningEncryptedContent: "e" } },
    });
  });

  test("a call without an end of its item", () => {
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

describe("calls of `parallel`, a tool that is not in the request", () => {
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

  test("F53: nothing after the end matters, and without the end the answer is broken", () => {
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

test("F13: generated answers are the same at any cut", () => {
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

  test("equals the result of parsing each event", () => {
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

  test("equals that result for documents that imitate another form", () => {
    const value = fc.constantFrom("a", "b", "delta", 'a","delta":"b', "\\", "response.output_text.delta", "1", "");
    const field = fc.constantFrom("delta", "x", "sequence_number", "obfuscation", "item_id", "text");
    const values = fc.array(value, { minLength: 8, maxLength: 8 });
    // In a run, the order, the repeated keys and most values are the same, as servers write.
    const shape = fc.tuple(fc.array(field, { maxLength: 5 }), fc.nat(5), fc.nat(5), values);
    const changes = fc.array(fc.tuple(values, fc.nat(9)), { minLength: 20, maxLength: 40 });
    fc.assert(
      fc.property(shape, changes, fc.boolean(), ([keys, at, escapeAt, same], documents, isSpaced) => {
        const colon = isSpaced ? ": " : ":";
        const written = documents.map(([changed, number], index) => {
          const chosen = (key: string, place: number) =>
            key === "sequence_number" ? number : (/^(x|obfuscation)$/.test(key) ? changed : same)[place];
          const pairs = keys.map((key, place): [string, unknown] => [key, chosen(key, place)]);
          pairs.splice(Math.min(at, pairs.length), 0, ["delta", `${changed[7]}${index % 3}`]);
          const texts = pairs.map(([key, one], place) => {
            const json = JSON.stringify(one);
            return `"${key}"${colon}${place === escapeAt ? json.replace("a", "\\u0061") : json}`;
          });
          return `{"type"${colon}"response.output_text.delta","output_index":0,${texts.join(",")}`;
        });
        const outcome = (events: readonly string[]) => {
          const answer = open();
          answer.data(JSON.stringify(added(0, message)));
          for (const event of events) answer.data(event);
          answer.data(JSON.stringify(completed));
          answer.end();
          return joined(answer.take());
        };
        // A list that changes keeps every document from being read without parsing.
        const parsed = outcome(written.map((document, index) => `${document},"list":[${index}]}`));
        expect(outcome(written.map((document) => `${document}}`))).toEqual(parsed);
      }),
      { numRuns: 300 },
    );
  });
});
