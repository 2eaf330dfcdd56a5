import { ModelError } from "@banyan/core";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { chunk, eventOf } from "../testing/server.ts";
import { answer, call, decode, endpoint, wholeCall } from "./answer.fixture.ts";
import { ChatAnswer } from "./answer.ts";

function failure(run: () => unknown): ModelError {
  try {
    run();
  } catch (error) {
    if (error instanceof ModelError) return error;
    throw error;
  }
  throw new Error("It did not fail.");
}

const usage = { input: 0, cached: 0, cacheWrite: 0, output: 0, reasoning: 0 };

const stop = { type: "finish", reason: "stop", usage };

const calls = { type: "finish", reason: "calls", usage };

const done = [chunk({}, "stop"), "[DONE]"] as const;

describe("text and reasoning", () => {
  test("text is put together from its pieces", () => {
    expect(
      answer(chunk({ role: "assistant", content: "" }), chunk({ content: "Hel" }), chunk({ content: "lo" }), ...done),
    ).toEqual([{ type: "text", text: "Hello" }, stop]);
  });

  test.each(["reasoning_content", "reasoning"])("reasoning may be called %s", (field) => {
    expect(answer(chunk({ [field]: "Hm" }), chunk({ [field]: "m" }), chunk({ content: "A" }), ...done)).toEqual([
      { type: "reasoning", text: "Hmm" },
      { type: "part-end", provider: { p: { field } } },
      { type: "text", text: "A" },
      stop,
    ]);
  });

  test("reasoning ends once, at the start of the next content", () => {
    const piece = (text: string) => call({ index: 0, id: "a", function: { name: "read", arguments: text } });
    expect(answer(chunk({ reasoning: "Hm" }), piece(""), piece("{}"), chunk({}, "tool_calls"), "[DONE]")).toEqual([
      { type: "reasoning", text: "Hm" },
      { type: "part-end", provider: { p: { field: "reasoning" } } },
      ...wholeCall(0, "a", "read", "{}"),
      calls,
    ]);
  });

  test("reasoning under both names counts once", () => {
    expect(answer(chunk({ reasoning_content: "Hm", reasoning: "Hm" }), ...done)[0]).toEqual({
      type: "reasoning",
      text: "Hm",
    });
  });

  test("content may be a list of segments", () => {
    const thinking = { type: "thinking", thinking: [{ type: "text", text: "Hm" }] };
    expect(answer(chunk({ content: [thinking, { type: "text", text: "A" }] }), ...done)).toEqual([
      { type: "reasoning", text: "Hm" },
      { type: "text", text: "A" },
      stop,
    ]);
  });

  test("a refusal is text, and filtered", () => {
    expect(answer(chunk({ refusal: "No." }), ...done)).toEqual([
      { type: "text", text: "No." },
      { ...stop, reason: "filtered" },
    ]);
  });

  test("cited pages are sources", () => {
    const annotations = [{ type: "url_citation", url_citation: { url: "https://a.example", title: "A" } }];
    expect(answer(chunk({ content: "A", annotations }), ...done)[1]).toEqual({
      type: "source",
      url: "https://a.example",
      title: "A",
    });
  });
});

describe("the end", () => {
  test.each([
    ["stop", "stop"],
    ["length", "length"],
    ["content_filter", "filtered"],
    ["eos_token", "stop"],
    ["tool_calls", "stop"],
  ])("without calls, the reason %s is %s", (told, reason) => {
    expect(answer(chunk({ content: "A" }), chunk({}, told), "[DONE]").at(-1)).toEqual({
      type: "finish",
      reason,
      usage,
    });
  });

  test.each(["stop", "tool_calls", "function_call"])("the finish reason %s with calls is calls", (told) => {
    const piece = call({ index: 0, id: "a", function: { name: "x", arguments: "{}" } });
    expect(answer(piece, chunk({}, told), "[DONE]").at(-1)).toEqual(calls);
  });

  test("the usage follows the reason", () => {
    const told = {
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 120,
      prompt_tokens_details: { cached_tokens: 64 },
      completion_tokens_details: { reasoning_tokens: 7 },
    };
    expect(answer(chunk({ content: "A" }), chunk({}, "stop"), { choices: [], usage: told }, "[DONE]").at(-1)).toEqual({
      type: "finish",
      reason: "stop",
      usage: { input: 100, cached: 64, cacheWrite: 0, output: 20, reasoning: 7 },
    });
  });

  test("reasoning that the provider counts apart is part of the output", () => {
    const told = {
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 127,
      completion_tokens_details: { reasoning_tokens: 7 },
    };
    expect(answer(chunk({}, "stop"), { choices: [], usage: told }, "[DONE]").at(-1)).toMatchObject({
      usage: { output: 27, reasoning: 7 },
    });
  });

  test("the response names the answering model if it differs from the requested model", () => {
    const piece = { ...chunk({ content: "A" }, "stop"), model: "m-2026" };
    expect(answer(piece, "[DONE]").at(-1)).toEqual({ ...stop, model: "m-2026" });
  });

  test("a stream without [DONE] is complete after a finish reason", () => {
    expect(answer(chunk({ content: "A" }, "stop"))).toEqual([{ type: "text", text: "A" }, stop]);
  });

  test("a stream with [DONE] and content is whole without a reason", () => {
    expect(answer(chunk({ content: "A" }), "[DONE]")).toEqual([{ type: "text", text: "A" }, stop]);
  });

  test.each<[string, readonly (object | string)[]]>([
    ["content without reason and [DONE]", [chunk({ content: "A" })]],
    ["nothing but [DONE]", ["[DONE]"]],
    ["nothing", []],
  ])("a stream with %s is broken", (_, events) => {
    expect(failure(() => answer(...events))).toMatchObject({ code: "broken-stream", retryable: true });
  });

  test.each(['{"choices":[', "[]", '"text"'])("a stream that contains %s is broken", (data) => {
    expect(failure(() => answer(data))).toMatchObject({ code: "broken-stream" });
  });
});

describe("F14: an error in the stream keeps its meaning", () => {
  test.each([
    [{ error: { message: "Overloaded", type: "overloaded_error" } }, "overloaded"],
    [{ error: { message: "Slow down", code: "rate_limit_exceeded" } }, "rate-limit"],
    [{ error: { message: "Upstream", code: 503 } }, "overloaded"],
    [{ error: { message: "Upstream", code: 429 } }, "rate-limit"],
    [{ error: { message: "You exceeded your current quota", type: "insufficient_quota" } }, "quota"],
    [{ error: { message: "The server had an error", type: "server_error" } }, "provider"],
    [{ error: "something broke" }, "provider"],
    [{ object: "error", message: "something broke", code: 500 }, "provider"],
    [chunk({ content: "" }, "error"), "provider"],
    [chunk({ content: "" }, "insufficient_system_resource"), "overloaded"],
  ])("%j is %s", (event, code) => {
    expect(failure(() => answer(chunk({ content: "A" }), event))).toMatchObject({ code });
  });

  test("the content before the error is kept", () => {
    const one = new ChatAnswer(endpoint);
    one.data(JSON.stringify(chunk({ content: "A" })));
    failure(() => one.data('{"error":{"message":"x"}}'));
    expect(one.take()).toEqual([{ type: "text", text: "A" }]);
  });
});

test("F13: an answer that is split at each byte is the same", () => {
  const events = [
    chunk({ role: "assistant", content: "" }),
    chunk({ reasoning_content: "Überlegung 🌱" }),
    chunk({ content: "Zażółć " }),
    chunk({ content: "gęślą 🌳" }),
    call({ index: 0, id: "a", function: { name: "read", arguments: "" } }),
    call({ index: 0, function: { arguments: '{"p":"ä' } }),
    call({ index: 0, function: { arguments: '"}' } }),
    call({ index: 1, id: "b", function: { name: "read", arguments: "{}" } }),
    chunk({}, "tool_calls"),
    { choices: [], usage: { prompt_tokens: 3, completion_tokens: 4 } },
    "[DONE]",
  ];
  for (const eol of ["\n", "\r\n"]) {
    const bytes = Buffer.from(events.map(eventOf).join("").replaceAll("\n", eol));
    const whole = decode(bytes);
    expect(whole).toHaveLength(10);
    for (let cut = 0; cut <= bytes.length; cut++) {
      expect(decode(bytes.subarray(0, cut), bytes.subarray(cut)), `at ${cut}`).toEqual(whole);
    }
  }
});

test("a long answer with repetitive chunks equals one with other chunks", () => {
  const text = fc.oneof(fc.constantFrom('{"', "path", '":"', "tool_calls", ""), fc.string({ unit: "binary" }));
  const delta = fc.oneof(
    text.map((content) => ({ content })),
    text.map((reasoning_content) => ({ reasoning_content, content: null })),
    fc.tuple(fc.nat({ max: 1 }), text).map(([index, piece]) => {
      return { tool_calls: [{ index, function: { name: index === 0 ? "write" : undefined, arguments: piece } }] };
    }),
  );
  const series = fc.tuple(delta, fc.array(text, { maxLength: 12 })).map(([first, texts]) => {
    const written = JSON.stringify(first);
    const [said = ""] = Object.values(
      "tool_calls" in first ? { said: first.tool_calls[0]?.function.arguments } : first,
    );
    const at = written.lastIndexOf(JSON.stringify(said));
    const after = written.slice(at + JSON.stringify(said).length);
    return [first, ...texts.map((more) => JSON.parse(`${written.slice(0, at)}${JSON.stringify(more)}${after}`))];
  });
  const opened = call({ index: 1, id: "b", function: { name: "run", arguments: "" } });
  fc.assert(
    fc.property(fc.array(series, { minLength: 3, maxLength: 8 }), (all) => {
      const chunks = [opened, ...all.flat().map((said) => chunk(said)), ...done];
      // A field with another object in each chunk prevents that the form is learnt.
      const unlike = chunks.map((one, index) => (typeof one === "string" ? one : { nth: { index }, ...one }));
      expect(answer(...chunks)).toEqual(answer(...unlike));
    }),
  );
});

describe("long answers whose chunks have further fields", () => {
  const value = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom("", '"', "\\", "content", "assistant", '{"content":"no"}', true, null, [1]),
  );
  const name = fc.oneof(fc.constantFrom("obfuscation", "id", "p", 'x"obfuscation', "sequence_number"), fc.string());
  const isOwn = (key: string) =>
    ["__proto__", "error", "object", "type", "response", "message", "detail", "choices", "usage", "model"].includes(
      key,
    ) ||
    ["delta", "finish_reason", "content", "refusal", "tool_calls", "function_call", "annotations", "role"].includes(
      key,
    ) ||
    key.startsWith("reasoning");
  const names = fc.uniqueArray(
    name.filter((key) => !isOwn(key)),
    { maxLength: 3 },
  );
  const text = fc.oneof(fc.constantFrom("", '"', "\\n", "tree", "{}"), fc.string({ unit: "binary" }));

  /** Chunks with the same keys in the same places, before or behind the known keys, at each of three levels. */
  const series = fc
    .tuple(names, names, names, fc.boolean(), fc.constantFrom("content", "reasoning_content", "arguments"))
    .chain(([top, ofChoice, ofDelta, isBehind, field]) => {
      const some = (keys: readonly string[]) => fc.tuple(...keys.map((key) => fc.tuple(fc.constant(key), value)));
      const one = fc.tuple(some(top), some(ofChoice), some(ofDelta), text).map(([a, b, c, said]) => {
        const mixed = (own: object, extra: readonly (readonly [string, unknown])[]) =>
          isBehind ? { ...own, ...Object.fromEntries(extra) } : { ...Object.fromEntries(extra), ...own };
        const calls = [{ index: 0, function: { arguments: said } }];
        const delta = mixed(field === "arguments" ? { tool_calls: calls } : { [field]: said }, c);
        return mixed({ model: "m", choices: [mixed({ index: 0, delta, finish_reason: null }, b)] }, a);
      });
      return fc.array(one, { minLength: 10, maxLength: 30 });
    });

  test("V6: are read as if each chunk were parsed", () => {
    const opened = call({ index: 0, id: "b", function: { name: "run", arguments: "" } });
    const spaced = (one: object | string) =>
      typeof one === "string" ? one : JSON.stringify(one, null, 1).replaceAll("\n", " ");
    fc.assert(
      fc.property(fc.array(series, { minLength: 1, maxLength: 3 }), fc.boolean(), (all, hasSpaces) => {
        const chunks = [opened, ...all.flat(), ...done];
        const unlike = chunks.map((one, index) => (typeof one === "string" ? one : { nth: { index }, ...one }));
        expect(answer(...(hasSpaces ? chunks.map(spaced) : chunks))).toEqual(answer(...unlike));
      }),
    );
  });

  test("V6: need no parsing of text chunks after the fourteenth, with padding or without", () => {
    const parsed = (fields: (index: number) => object) => {
      const decoder = new ChatAnswer(endpoint);
      const parse = vi.spyOn(JSON, "parse");
      for (let index = 0; index < 500; index++) {
        decoder.data(JSON.stringify({ ...(chunk({ content: ` word ${index}` }) as object), ...fields(index) }));
      }
      const { length } = parse.mock.calls;
      parse.mockRestore();
      decoder.data("[DONE]");
      return length;
    };
    const plain = parsed(() => ({}));
    expect(plain).toBeLessThan(16);
    expect(parsed((index) => ({ obfuscation: "aZ3kQ9xB".slice(index % 8) }))).toBe(plain);
    expect(parsed((index) => ({ created: 1_763_760_000 + index, id: `chatcmpl-${index}` }))).toBe(plain);
  });
});
