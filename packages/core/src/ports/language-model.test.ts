import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { describe, expect, test } from "vitest";
import { noUsage } from "../conversation/usage.ts";
import { streamOf } from "./language-model/stream-of.fixture.ts";
import { fromLanguageModel, isLanguageModel } from "./language-model.ts";
import type { ModelDriver, ModelPart, ModelRequest, ModelSink, PromptMessage } from "./model.ts";

type Stream = (options: LanguageModelV4CallOptions) => ReadableStream<LanguageModelV4StreamPart>;

function model(stream: Stream): LanguageModelV4 & { readonly asked: LanguageModelV4CallOptions[] } {
  const asked: LanguageModelV4CallOptions[] = [];
  return {
    asked,
    specificationVersion: "v4",
    provider: "acme.chat",
    modelId: "large",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("not asked for")),
    doStream: async (options) => {
      asked.push(options);
      return { stream: stream(options) };
    },
  };
}

const usage = {
  inputTokens: { total: 10, noCache: 5, cacheRead: 3, cacheWrite: 2 },
  outputTokens: { total: 7, text: 4, reasoning: 3 },
};
const finish: LanguageModelV4StreamPart = { type: "finish", usage, finishReason: { unified: "stop", raw: "stop" } };
const counted = { input: 10, cached: 3, cacheWrite: 2, output: 7, reasoning: 3 };
const end: ModelPart = { type: "finish", reason: "stop", usage: counted };

const request: ModelRequest = {
  instructions: "",
  messages: [{ role: "user", parts: [{ type: "text", text: "hello" }] }],
  tools: [],
  toolChoice: "auto",
  settings: {},
};

class Recorder implements ModelSink {
  readonly batches: (readonly ModelPart[])[] = [];
  get parts(): ModelPart[] {
    return this.batches.flat();
  }
  push(parts: readonly ModelPart[]): boolean {
    this.batches.push(parts);
    return true;
  }
  ready(): Promise<void> {
    return Promise.resolve();
  }
}

const never = () => new AbortController().signal;

async function answerTo(parts: readonly LanguageModelV4StreamPart[], asked = request): Promise<ModelPart[]> {
  const sink = new Recorder();
  await fromLanguageModel(model(() => streamOf(parts))).stream(asked, sink, never());
  return sink.parts;
}

async function failure(driver: ModelDriver, sink: ModelSink = new Recorder(), signal = never()): Promise<unknown> {
  try {
    await driver.stream(request, sink, signal);
  } catch (error) {
    return error;
  }
  throw new Error("it did not fail");
}

const failureOf = (parts: readonly LanguageModelV4StreamPart[], sink?: ModelSink) =>
  failure(fromLanguageModel(model(() => streamOf(parts))), sink);

const throwing = (thrown: unknown) =>
  failure(fromLanguageModel({ ...model(() => streamOf([])), doStream: () => Promise.reject(thrown) }));

describe("what a driver says of itself", () => {
  test("its id is the provider and the model, or what it is given", () => {
    const large = model(() => streamOf([]));
    expect(fromLanguageModel(large)).toMatchObject({ id: "acme/large", family: "language-model" });
    const price = { input: 1, output: 2 };
    expect(fromLanguageModel(large, { id: "mine", price, contextSize: 9 })).toMatchObject({
      id: "mine",
      price,
      contextSize: 9,
    });
  });

  test("a model of another generation is refused with what to do", () => {
    const old = { ...model(() => streamOf([])), specificationVersion: "v2" };
    expect(isLanguageModel(old)).toBe(false);
    expect(isLanguageModel(null)).toBe(false);
    expect(isLanguageModel(model(() => streamOf([])))).toBe(true);
    expect(() => fromLanguageModel(old as never)).toThrow(/generation v2 .* v4 is needed; update its package/);
    expect(() => fromLanguageModel("anthropic/claude" as never)).toThrow(/not a language model/);
  });
});

describe("the parts of an answer", () => {
  test("text and reasoning, with the end of each", async () => {
    const parts = await answerTo([
      { type: "stream-start", warnings: [] },
      { type: "reasoning-start", id: "r" },
      { type: "reasoning-delta", id: "r", delta: "hm" },
      { type: "reasoning-end", id: "r" },
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: "he" },
      { type: "text-delta", id: "t", delta: "llo" },
      { type: "text-end", id: "t" },
      finish,
    ]);
    expect(parts).toEqual([
      { type: "reasoning", text: "hm" },
      { type: "part-end" },
      { type: "text", text: "he" },
      { type: "text", text: "llo" },
      { type: "part-end" },
      end,
    ]);
  });

  test("what the provider wants to see again comes with the end of the part, from wherever it stood", async () => {
    const parts = await answerTo([
      {
        type: "reasoning-start",
        id: "r",
        providerMetadata: { openai: { itemId: "rs_1", reasoningEncryptedContent: null } },
      },
      { type: "reasoning-delta", id: "r", delta: "hm" },
      { type: "reasoning-end", id: "r", providerMetadata: { openai: { reasoningEncryptedContent: "x9" } } },
      { type: "reasoning-start", id: "s" },
      { type: "reasoning-delta", id: "s", delta: "aha" },
      { type: "reasoning-delta", id: "s", delta: "", providerMetadata: { anthropic: { signature: "sig" } } },
      { type: "reasoning-end", id: "s" },
      { type: "text-start", id: "t", providerMetadata: { openai: { itemId: "msg_1" } } },
      { type: "text-delta", id: "t", delta: "hello" },
      { type: "text-end", id: "t" },
      finish,
    ]);
    expect(parts.filter((part) => part.type === "part-end")).toEqual([
      { type: "part-end", provider: { openai: { itemId: "rs_1", reasoningEncryptedContent: "x9" } } },
      { type: "part-end", provider: { anthropic: { signature: "sig" } } },
      { type: "part-end", provider: { openai: { itemId: "msg_1" } } },
    ]);
  });

  test("reasoning that the provider keeps to itself is an empty part; an empty part without a mark is none", async () => {
    const parts = await answerTo([
      { type: "reasoning-start", id: "r", providerMetadata: { anthropic: { redactedData: "zz" } } },
      { type: "reasoning-end", id: "r" },
      { type: "text-start", id: "t" },
      { type: "text-end", id: "t" },
      finish,
    ]);
    expect(parts).toEqual([
      { type: "reasoning", text: "" },
      { type: "part-end", provider: { anthropic: { redactedData: "zz" } } },
      end,
    ]);
  });

  test("a block that nobody closed ends where the next one begins, or with the answer", async () => {
    const parts = await answerTo([
      { type: "text-start", id: "a" },
      { type: "text-delta", id: "a", delta: "one" },
      { type: "text-start", id: "b" },
      { type: "text-delta", id: "b", delta: "two" },
      finish,
    ]);
    expect(parts).toEqual([
      { type: "text", text: "one" },
      { type: "part-end" },
      { type: "text", text: "two" },
      { type: "part-end" },
      end,
    ]);
  });

  test("a call whose arguments stream, and what the provider marks it with", async () => {
    const parts = await answerTo([
      { type: "tool-input-start", id: "c1", toolName: "read" },
      { type: "tool-input-delta", id: "c1", delta: '{"path":' },
      { type: "tool-input-delta", id: "c1", delta: '"a"}' },
      { type: "tool-input-end", id: "c1" },
      {
        type: "tool-call",
        toolCallId: "c1",
        toolName: "read",
        input: '{ "path": "a" }',
        providerMetadata: { openai: { itemId: "fc" } },
      },
      finish,
    ]);
    expect(parts).toEqual([
      { type: "call", index: 0, id: "c1", tool: "read" },
      { type: "call-input", index: 0, text: '{"path":' },
      { type: "call-input", index: 0, text: '"a"}' },
      { type: "call-end", index: 0, provider: { openai: { itemId: "fc" } } },
      { ...end, reason: "calls" },
    ]);
  });

  test("a call that comes at once, and one whose arguments were announced but never streamed", async () => {
    const parts = await answerTo([
      { type: "tool-call", toolCallId: "c1", toolName: "read", input: '{"path":"a"}' },
      { type: "tool-input-start", id: "c2", toolName: "list" },
      { type: "tool-input-end", id: "c2" },
      { type: "tool-call", toolCallId: "c2", toolName: "list", input: "{}" },
      finish,
    ]);
    expect(parts.slice(0, -1)).toEqual([
      { type: "call", index: 0, id: "c1", tool: "read" },
      { type: "call-input", index: 0, text: '{"path":"a"}' },
      { type: "call-end", index: 0 },
      { type: "call", index: 1, id: "c2", tool: "list" },
      { type: "call-input", index: 1, text: "{}" },
      { type: "call-end", index: 1 },
    ]);
  });

  test("two calls whose arguments stream at the same time keep apart", async () => {
    const parts = await answerTo([
      { type: "tool-input-start", id: "a", toolName: "read" },
      { type: "tool-input-start", id: "b", toolName: "read" },
      { type: "tool-input-delta", id: "b", delta: "{2}" },
      { type: "tool-input-delta", id: "a", delta: "{1}" },
      { type: "tool-call", toolCallId: "b", toolName: "read", input: "{2}" },
      { type: "tool-call", toolCallId: "a", toolName: "read", input: "{1}" },
      finish,
    ]);
    expect(parts.filter((part) => part.type === "call-input")).toEqual([
      { type: "call-input", index: 1, text: "{2}" },
      { type: "call-input", index: 0, text: "{1}" },
    ]);
    expect(parts.filter((part) => part.type === "call-end").map((part) => part.index)).toEqual([1, 0]);
  });

  test("arguments that stream as plain text are taken from the call, where they are JSON", async () => {
    const parts = await answerTo([
      { type: "tool-input-start", id: "c", toolName: "patch", inputEncoding: "text" },
      { type: "tool-input-delta", id: "c", delta: "*** begin" },
      { type: "tool-call", toolCallId: "c", toolName: "patch", input: '"*** begin"' },
      finish,
    ]);
    expect(parts.filter((part) => part.type === "call-input")).toEqual([
      { type: "call-input", index: 0, text: '"*** begin"' },
    ]);
  });

  test("what has no place in a message is passed over, and the answer goes on", async () => {
    const parts = await answerTo([
      { type: "source", sourceType: "url", id: "s", url: "https://example.org/", title: "Example" },
      { type: "source", sourceType: "document", id: "d", mediaType: "text/plain", title: "A paper" },
      { type: "file", mediaType: "image/png", data: { type: "data", data: "AA==" } },
      { type: "ping" },
      { type: "raw", rawValue: {} },
      { type: "text-delta", id: "t", delta: "found" },
      finish,
    ]);
    expect(parts).toEqual([
      { type: "source", url: "https://example.org/", title: "Example" },
      { type: "text", text: "found" },
      { type: "part-end" },
      end,
    ]);
  });

  test.each([
    ["stop", "stop"],
    ["length", "length"],
    ["content-filter", "filtered"],
    ["other", "stop"],
  ] as const)("an answer that ended as %s ended as %s", async (unified, reason) => {
    expect(await answerTo([{ ...finish, finishReason: { unified, raw: undefined } }])).toEqual([{ ...end, reason }]);
  });

  test("the model that answered is named when it is another than was asked", async () => {
    expect(await answerTo([{ type: "response-metadata", modelId: "large-2026" }, finish])).toEqual([
      { ...end, model: "large-2026" },
    ]);
    expect(await answerTo([{ type: "response-metadata", modelId: "large" }, finish])).toEqual([end]);
  });

  test("B20: tokens that the provider does not count are zero, totals are made of their parts", async () => {
    const none = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
    const nothing = { inputTokens: none, outputTokens: { total: undefined, text: undefined, reasoning: undefined } };
    const some = {
      inputTokens: { ...none, noCache: 4, cacheRead: 2 },
      outputTokens: { total: undefined, text: 3, reasoning: 1 },
    };
    expect(await answerTo([{ ...finish, usage: nothing }])).toEqual([{ ...end, usage: noUsage }]);
    expect(await answerTo([{ ...finish, usage: some }])).toEqual([
      { ...end, usage: { input: 6, cached: 2, cacheWrite: 0, output: 4, reasoning: 1 } },
    ]);
  });
});

describe("the request", () => {
  const conversation: readonly PromptMessage[] = [
    {
      role: "user",
      parts: [
        { type: "text", text: "look" },
        { type: "file", mediaType: "image/png", name: "a.png", data: "AA==" },
        { type: "file", mediaType: "image/*", url: "https://example.org/b.png" },
      ],
    },
    {
      role: "assistant",
      parts: [
        { type: "reasoning", text: "hm", provider: { anthropic: { signature: "sig" } } },
        { type: "reasoning", text: "", provider: { anthropic: { redactedData: "zz" } } },
        { type: "text", text: "" },
        { type: "text", text: "reading", provider: { openai: { itemId: "msg_1" } } },
        { type: "call", id: "c1", tool: "read", input: { path: "a" }, provider: { openai: { itemId: "fc_1" } } },
        { type: "call", id: "c2", tool: "read", input: { path: "b" } },
      ],
      results: [
        { call: "c1", tool: "read", output: "A", failed: false },
        { call: "c2", tool: "read", output: "no such file", failed: true },
      ],
    },
  ];
  const tools = [{ name: "read", description: "Reads a file.", input: { type: "object" } }];

  async function asked(more: Partial<ModelRequest>): Promise<LanguageModelV4CallOptions> {
    const large = model(() => streamOf([finish]));
    await fromLanguageModel(large).stream({ ...request, ...more }, new Recorder(), never());
    return large.asked[0] as LanguageModelV4CallOptions;
  }

  test("messages, with their files, signatures, calls and results", async () => {
    const { prompt } = await asked({ instructions: "Be brief.", messages: conversation });
    expect(prompt).toEqual([
      { role: "system", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "text", text: "look" },
          { type: "file", mediaType: "image/png", filename: "a.png", data: { type: "data", data: "AA==" } },
          { type: "file", mediaType: "image/*", data: { type: "url", url: new URL("https://example.org/b.png") } },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "hm", providerOptions: { anthropic: { signature: "sig" } } },
          { type: "reasoning", text: "", providerOptions: { anthropic: { redactedData: "zz" } } },
          { type: "text", text: "reading", providerOptions: { openai: { itemId: "msg_1" } } },
          {
            type: "tool-call",
            toolCallId: "c1",
            toolName: "read",
            input: { path: "a" },
            providerOptions: { openai: { itemId: "fc_1" } },
          },
          { type: "tool-call", toolCallId: "c2", toolName: "read", input: { path: "b" } },
        ],
      },
      {
        role: "tool",
        content: [
          { type: "tool-result", toolCallId: "c1", toolName: "read", output: { type: "text", value: "A" } },
          {
            type: "tool-result",
            toolCallId: "c2",
            toolName: "read",
            output: { type: "error-text", value: "no such file" },
          },
        ],
      },
    ]);
  });

  test("an answer that broke off keeps its signatures, but names no item: the provider has not kept any", async () => {
    const { prompt } = await asked({
      messages: [
        {
          role: "assistant",
          unfinished: true,
          parts: [
            { type: "reasoning", text: "hm", provider: { anthropic: { signature: "sig" } } },
            { type: "reasoning", text: "", provider: { openai: { itemId: "rs_1", reasoningEncryptedContent: "x9" } } },
            { type: "text", text: "read", provider: { openai: { itemId: "msg_1" } } },
            { type: "call", id: "c1", tool: "read", input: {}, provider: { openai: { itemId: "fc_1" } } },
          ],
          results: [{ call: "c1", tool: "read", output: "Not executed.", failed: true }],
        },
      ],
    });
    expect(prompt[0]).toEqual({
      role: "assistant",
      content: [
        { type: "reasoning", text: "hm", providerOptions: { anthropic: { signature: "sig" } } },
        { type: "text", text: "read" },
        { type: "tool-call", toolCallId: "c1", toolName: "read", input: {} },
      ],
    });
  });

  test("what is absent is not sent", async () => {
    expect(Object.keys(await asked({})).sort()).toEqual(["abortSignal", "prompt"]);
  });

  test("settings under the AI SDK's names", async () => {
    const providerOptions = { acme: { verbose: true } };
    const options = await asked({
      settings: { temperature: 0, maxTokens: 9, stop: ["END"], effort: "max", providerOptions },
    });
    expect(options).toMatchObject({
      temperature: 0,
      maxOutputTokens: 9,
      stopSequences: ["END"],
      reasoning: "max",
      providerOptions,
    });
  });

  test("tools stay when none may be called", async () => {
    expect(await asked({ tools, toolChoice: "none" })).toMatchObject({
      tools: [{ type: "function", name: "read", description: "Reads a file.", inputSchema: { type: "object" } }],
      toolChoice: { type: "none" },
    });
  });

  test("a message and the tools are converted once, however often they are sent", async () => {
    const first = await asked({ messages: conversation, tools });
    const second = await asked({ messages: [...conversation, ...request.messages], tools });
    expect(second.tools).toBe(first.tools);
    for (const index of [0, 1, 2]) expect(second.prompt[index]).toBe(first.prompt[index]);
    expect(second.prompt).toHaveLength(4);
  });

  test("a file without bytes and address is refused before anything is sent", async () => {
    const messages: PromptMessage[] = [
      { role: "user", parts: [{ type: "file", mediaType: "text/plain", name: "a.txt" }] },
    ];
    await expect(asked({ messages })).rejects.toMatchObject({
      code: "invalid-request",
      message: expect.stringContaining("a.txt"),
    });
  });
});

describe("order and room", () => {
  const words = (count: number): LanguageModelV4StreamPart[] =>
    Array.from({ length: count }, (_, index) => ({ type: "text-delta", id: "t", delta: `${index} ` }));

  test("what is there at once comes in one batch, what comes later in its own", async () => {
    const sink = new Recorder();
    const later = Promise.withResolvers<void>();
    const driver = fromLanguageModel(
      model(() => {
        const parts = async function* () {
          yield* words(3);
          await later.promise;
          yield* [...words(1), finish];
        };
        return streamOf(parts());
      }),
    );
    const done = driver.stream(request, sink, never());
    await expect.poll(() => sink.batches.length).toBe(1);
    later.resolve();
    await done;
    expect(sink.batches.map((batch) => batch.map((part) => ("text" in part ? part.text : part.type)))).toEqual([
      ["0 ", "1 ", "2 "],
      ["0 ", "part-end", "finish"],
    ]);
  });

  test("a long answer that is there at once keeps its order and leaves the program room to breathe", async () => {
    const sink = new Recorder();
    let breaths = 0;
    const breathing = setInterval(() => breaths++, 0);
    await fromLanguageModel(model(() => streamOf([...words(100_000), finish]))).stream(request, sink, never());
    clearInterval(breathing);
    const text = sink.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
    expect(text).toBe(Array.from({ length: 100_000 }, (_, index) => `${index} `).join(""));
    expect(Math.max(...sink.batches.map((batch) => batch.length))).toBeLessThan(1000);
    expect(breaths).toBeGreaterThan(0);
  });

  test("a full sink stops the reading until there is room (F19)", async () => {
    let pulled = 0;
    const source = new ReadableStream<LanguageModelV4StreamPart>(
      {
        pull(controller) {
          pulled++;
          controller.enqueue(pulled > 5000 ? finish : { type: "text-delta", id: "t", delta: "x" });
        },
      },
      { highWaterMark: 0 },
    );
    const room = Promise.withResolvers<void>();
    const parts: ModelPart[] = [];
    let full = true;
    const sink: ModelSink = {
      push(batch) {
        parts.push(...batch);
        return !full;
      },
      ready: () => room.promise,
    };
    const done = fromLanguageModel(model(() => source)).stream(request, sink, never());
    await expect.poll(() => parts.length).toBeGreaterThan(0);
    await new Promise((resolve) => setTimeout(resolve, 20));
    const held = pulled;
    expect(held).toBeLessThan(1000);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(pulled).toBe(held);
    full = false;
    room.resolve();
    await done;
    expect(parts.at(-1)).toEqual(end);
    expect(parts.filter((part) => part.type === "text")).toHaveLength(5000);
  });

  test("nothing is pushed after the end", async () => {
    const sink = new Recorder();
    await fromLanguageModel(model(() => streamOf([...words(2), finish, ...words(2)]))).stream(request, sink, never());
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(sink.parts.at(-1)).toEqual(end);
  });

  test("a source that goes on after its end is left alone", async () => {
    let cancelled = false;
    const source = new ReadableStream<LanguageModelV4StreamPart>({
      pull: (controller) => controller.enqueue(finish),
      cancel: () => {
        cancelled = true;
      },
    });
    const sink = new Recorder();
    await fromLanguageModel(model(() => source)).stream(request, sink, never());
    await expect.poll(() => cancelled).toBe(true);
    expect(sink.parts).toEqual([end]);
  });

  test("a sink that throws ends the answer with what it threw", async () => {
    const broken: ModelSink = {
      push() {
        throw new RangeError("no more");
      },
      ready: () => Promise.resolve(),
    };
    const driver = fromLanguageModel(
      model(
        () =>
          new ReadableStream({
            start: (controller) => controller.enqueue({ type: "text-delta", id: "t", delta: "x" }),
          }),
      ),
    );
    expect(await failure(driver, broken)).toMatchObject({ cause: new RangeError("no more") });
  });
});

describe("an interruption", () => {
  test("B22: ends a stream that says nothing more, keeps what was said, and rejects with the reason", async () => {
    let cancelled: unknown;
    const sink = new Recorder();
    const driver = fromLanguageModel(
      model(
        () =>
          new ReadableStream({
            start: (controller) => controller.enqueue({ type: "text-delta", id: "t", delta: "half" }),
            cancel: (reason) => {
              cancelled = reason;
            },
          }),
      ),
    );
    const control = new AbortController();
    const failed = failure(driver, sink, control.signal);
    await expect.poll(() => sink.parts.length).toBe(1);
    control.abort("enough");
    expect(await failed).toBe("enough");
    expect(sink.parts).toEqual([{ type: "text", text: "half" }]);
    expect(cancelled).toBe("enough");
  });

  test("ends the wait for a model that has not answered yet, which is told; a late answer is dropped", async () => {
    let cancelled = false;
    const answer = Promise.withResolvers<{ stream: ReadableStream<LanguageModelV4StreamPart> }>();
    let signal: AbortSignal | undefined;
    const deaf: LanguageModelV4 = {
      ...model(() => streamOf([])),
      doStream: (options) => {
        signal = options.abortSignal;
        return answer.promise;
      },
    };
    const control = new AbortController();
    const failed = failure(fromLanguageModel(deaf), new Recorder(), control.signal);
    control.abort(new Error("enough"));
    expect(await failed).toEqual(new Error("enough"));
    expect(signal?.aborted).toBe(true);
    answer.resolve({
      stream: new ReadableStream({
        cancel: () => {
          cancelled = true;
        },
      }),
    });
    await expect.poll(() => cancelled).toBe(true);
  });

  test("ends the wait for room", async () => {
    const control = new AbortController();
    const sink: ModelSink = { push: () => false, ready: () => new Promise(() => {}) };
    const endless = new ReadableStream<LanguageModelV4StreamPart>({
      pull: (controller) => controller.enqueue({ type: "text-delta", id: "t", delta: "x" }),
    });
    const failed = failure(fromLanguageModel(model(() => endless)), sink, control.signal);
    await new Promise((resolve) => setTimeout(resolve, 5));
    control.abort("enough");
    expect(await failed).toBe("enough");
  });

  test("before the start asks nobody", async () => {
    const large = model(() => streamOf([finish]));
    expect(await failure(fromLanguageModel(large), new Recorder(), AbortSignal.abort("no"))).toBe("no");
    expect(large.asked).toEqual([]);
  });

  test("an abort error of the provider becomes the signal's reason", async () => {
    const control = new AbortController();
    const aborting: LanguageModelV4 = {
      ...model(() => streamOf([])),
      doStream: async () => {
        control.abort("enough");
        throw new DOMException("This operation was aborted", "AbortError");
      },
    };
    expect(await failure(fromLanguageModel(aborting), new Recorder(), control.signal)).toBe("enough");
  });
});

describe("failures", () => {
  /** An error as the provider packages throw it: known by its name, since their class may be of another copy. */
  const named = (name: string, message: string, more: object = {}) =>
    Object.assign(new Error(message), { name, ...more });
  const callError = (statusCode: number, responseBody: string, responseHeaders = {}) =>
    named("AI_APICallError", "failed", {
      url: "https://api.acme.test/v1/x",
      statusCode,
      responseBody,
      responseHeaders,
    });

  test("a stream that stops without an end is broken, and what was said stands (F16)", async () => {
    const sink = new Recorder();
    const error = await failureOf([{ type: "text-delta", id: "t", delta: "half" }], sink);
    expect(error).toMatchObject({ name: "ModelError", code: "broken-stream", retryable: true });
    expect(sink.parts).toEqual([{ type: "text", text: "half" }]);
  });

  test.each([
    ["interrupted", "broken-stream"],
    ["error", "provider"],
  ] as const)("an answer that ended as %s is no answer", async (unified, code) => {
    expect(await failureOf([{ ...finish, finishReason: { unified, raw: "x" } }])).toMatchObject({ code });
  });

  test.each([
    [{ type: "overloaded_error", message: "Overloaded" }, "overloaded"],
    [{ message: "slow down", code: 429, statusCode: 429, data: {} }, "rate-limit"],
    [new Error("strange"), "provider"],
    [new TypeError("terminated"), "broken-stream"],
    ["just words", "provider"],
  ])("an error inside the stream ends it: %j (F14)", async (error, code) => {
    const sink = new Recorder();
    const failed = await failureOf(
      [{ type: "text-delta", id: "t", delta: "half" }, { type: "error", error }, finish],
      sink,
    );
    expect(failed).toMatchObject({ name: "ModelError", code });
    expect(sink.parts).toEqual([{ type: "text", text: "half" }]);
  });

  test("a socket that is cut in mid-stream", async () => {
    const cut = new ReadableStream<LanguageModelV4StreamPart>({
      start: (controller) =>
        controller.error(new TypeError("terminated", { cause: named("SocketError", "other side closed") })),
    });
    expect(await failure(fromLanguageModel(model(() => cut)))).toMatchObject({ code: "broken-stream" });
  });

  test.each([
    [callError(401, '{"error":{"message":"bad key"}}'), "authentication"],
    [callError(429, "", { "retry-after": "3" }), "rate-limit"],
    [callError(400, '{"error":{"message":"prompt is too long"}}'), "context-overflow"],
    [
      named("AI_APICallError", "Cannot connect to API", {
        cause: Object.assign(new Error("x"), { code: "ECONNREFUSED" }),
      }),
      "unreachable",
    ],
    [named("AI_APICallError", "Failed to process successful response", { statusCode: 200 }), "broken-stream"],
    [named("AI_LoadAPIKeyError", "Acme API key is missing."), "authentication"],
    [named("AI_NoSuchModelError", "No such languageModel: x"), "unknown-model"],
    [named("AI_UnsupportedFunctionalityError", "'file' functionality not supported"), "invalid-request"],
    [named("AI_JSONParseError", "JSON parsing failed"), "broken-stream"],
    [named("AI_InvalidResponseDataError", "Response stream ended without a finish reason."), "broken-stream"],
    [new TypeError("fetch failed"), "unreachable"],
    [new RangeError("strange"), "provider"],
    [{ error: "no class at all" }, "provider"],
  ])("what a provider package throws: %s", async (thrown, code) => {
    expect(await throwing(thrown)).toMatchObject({ name: "ModelError", code });
  });

  test("the sentence names the place and the model, and the wait that the provider asks for is kept (F14)", async () => {
    expect(await throwing(callError(404, '{"error":{"message":"nope"}}'))).toMatchObject({
      status: 404,
      message: "api.acme.test does not know the model acme/large; check its name and the address (404: nope)",
    });
    expect(await throwing(callError(429, "", { "retry-after": "3" }))).toMatchObject({ retryAfter: 3000 });
  });
});
