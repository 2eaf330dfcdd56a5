import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, defineTool, Session } from "@banyan/core";
import type { PromptMessage } from "@banyan/core/drivers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { ModelTarget } from "../provider/provider.ts";
import { resolveModel } from "../resolve.ts";
import { answerOf, say } from "../testing/sink.ts";
import { llamaFile } from "./llama.ts";
import type { LlamaChat, LlamaLibrary, LlamaMessage } from "./llama-library.ts";
import { grammarSchema, llamaHistory } from "./llama-prompt.ts";

let folder = "";
let file = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "banyan-llama-"));
  file = join(folder, "small.gguf");
  writeFileSync(file, "GGUF");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Options = Parameters<LlamaChat["generateResponse"]>[1];

/** node-llama-cpp with scripted responses. One token is one character. */
function scripted(
  respond: (options: Options, history: readonly LlamaMessage[]) => Promise<string> | string,
  { size = 1_000, failure }: { readonly size?: number; readonly failure?: Error } = {},
) {
  const seen: { history: readonly LlamaMessage[]; options: Options }[] = [];
  let loads = 0;
  const meter = { usedInputTokens: 0, usedOutputTokens: 0 };
  const sequence = {
    tokenMeter: {
      getState: () => ({ ...meter }),
      diff: (before: object) => {
        const { usedInputTokens, usedOutputTokens } = before as typeof meter;
        return {
          usedInputTokens: meter.usedInputTokens - usedInputTokens,
          usedOutputTokens: meter.usedOutputTokens - usedOutputTokens,
        };
      },
    },
  };
  class Chat implements LlamaChat {
    readonly sequence = sequence;
    readonly chatWrapper = {
      generateContextState: ({ chatHistory }: { readonly chatHistory: readonly LlamaMessage[] }) => ({
        contextText: { tokenize: () => ({ length: JSON.stringify(chatHistory).length }) },
      }),
    };
    async generateResponse(history: readonly LlamaMessage[], options: Options) {
      seen.push({ history, options });
      meter.usedInputTokens += 10;
      meter.usedOutputTokens += 3;
      return { metadata: { stopReason: await respond(options, history) } };
    }
  }
  const library: LlamaLibrary = {
    LlamaLogLevel: { disabled: "disabled" },
    LlamaChat: Chat,
    getLlama: async () => ({
      createGrammarForJsonSchema: async (schema) => ({ schema }),
      loadModel: async () => {
        loads++;
        if (failure) throw failure;
        return {
          tokenizer: undefined,
          createContext: async ({ contextSize }) => ({
            contextSize: Math.min(contextSize?.max ?? size, size),
            getSequence: () => sequence,
          }),
        };
      },
    }),
  };
  return { library, seen, loads: () => loads };
}

const target = (more: Partial<ModelTarget> = {}): ModelTarget => ({
  id: `local/${file}`,
  model: file,
  address: "",
  apiKey: undefined,
  keyVariable: undefined,
  proxy: undefined,
  variables: {},
  ...more,
});

const says = (text: string) => (options: Options) => {
  options.onResponseChunk({ type: undefined, text });
  return "eogToken";
};

describe("a model file in this process", () => {
  test("L10: streams text and reasoning, and counts tokens", async () => {
    const { library, seen } = scripted((options) => {
      options.onResponseChunk({ type: "segment", text: "Hm." });
      options.onResponseChunk({ type: undefined, text: "Hi" });
      options.onResponseChunk({ type: undefined, text: " there." });
      options.onResponseChunk({ type: undefined, text: "" });
      return "maxTokens";
    });
    const settings = { maxTokens: 20, temperature: 0.5, topP: 0.9, seed: 7, stop: ["END"], effort: "none" } as const;
    const parts = await answerOf(
      await llamaFile(library, target()),
      say("Hello.", { instructions: "Be kind.", settings }),
    );
    const input = JSON.stringify(seen[0]?.history).length;
    expect(parts).toEqual([
      { type: "reasoning", text: "Hm." },
      { type: "text", text: "Hi there." },
      {
        type: "finish",
        reason: "length",
        usage: { input, cached: input - 10, cacheWrite: 0, output: 3, reasoning: 0 },
      },
    ]);
    expect(seen[0]?.history).toEqual([
      { type: "system", text: "Be kind." },
      { type: "user", text: "Hello." },
    ]);
    expect(seen[0]?.options).toMatchObject({
      maxTokens: 20,
      temperature: 0.5,
      topP: 0.9,
      seed: 7,
      customStopTriggers: ["END"],
      budgets: { thoughtTokens: 0 },
    });
  });

  test("L10: runs the calls of the model in an agent, with their results in the next request", async () => {
    const { library, seen } = scripted((options, history) => {
      const last = history.at(-1);
      if (last?.type === "model") return says("It is warm.")(options);
      for (const [at, city] of ["Oslo", "Rome"].entries()) {
        const call = { callIndex: at, functionName: "weather" };
        options.onFunctionCallParamsChunk?.({ ...call, paramsChunk: '{"city":', done: false });
        options.onFunctionCallParamsChunk?.({ ...call, paramsChunk: `"${city}"}`, done: true });
      }
      return "functionCalls";
    });
    const weather = defineTool({
      name: "weather",
      description: "Tells the weather.",
      input: z.object({ city: z.string() }),
      effects: "none",
      execute: ({ city }) => `warm in ${city}`,
    });
    const turn = await new Agent({ model: await llamaFile(library, target()), tools: [weather] }).send("Weather?");
    expect(turn.text).toBe("It is warm.");
    expect(seen[0]?.options.functions).toEqual({
      weather: { description: "Tells the weather.", params: expect.objectContaining({ type: "object" }) },
    });
    const call = (city: string, startsNewChunk: boolean) => ({
      type: "functionCall",
      name: "weather",
      params: { city },
      result: `warm in ${city}`,
      startsNewChunk,
    });
    expect(seen[1]?.history.at(-1)).toEqual({ type: "model", response: [call("Oslo", true), call("Rome", false)] });
  });

  test("L2: writes a result by the grammar of its schema, unless the model has tools", async () => {
    const { library, seen } = scripted(says('{"city":"Rome"}'));
    const output = z.object({ city: z.string(), days: z.number().optional() });
    const agent = new Agent({ model: await llamaFile(library, target()), output });
    expect((await agent.send("Where?")).result).toEqual({ city: "Rome" });
    const tool = defineTool({ name: "look", description: "Looks.", input: output, effects: "none", execute: () => "" });
    expect((await agent.with({ tools: [tool] }).send("Where?")).result).toEqual({ city: "Rome" });
    expect(seen.map(({ options }) => options.grammar)).toEqual([
      {
        schema: {
          type: "object",
          properties: { city: { type: "string" }, days: { oneOf: [{ type: "number" }, { type: "null" }] } },
          required: ["city", "days"],
          additionalProperties: false,
        },
      },
      undefined,
    ]);
  });

  test("L10: loads the file once, with the first request, and learns its context size", async () => {
    const { library, loads } = scripted(says("Hi."), { size: 500 });
    const driver = await llamaFile(library, target());
    expect([driver.contextSize, loads()]).toEqual([undefined, 0]);
    await driver.learnContextSize?.(new AbortController().signal);
    await Promise.all([answerOf(driver, say("Hello.")), answerOf(driver, say("Hello."))]);
    expect([driver.contextSize, loads()]).toEqual([500, 1]);
    const smaller = await llamaFile(library, target({ contextSize: 100 }));
    await answerOf(smaller, say("Hello."));
    expect(smaller.contextSize).toBe(100);
  });

  test("L10: refuses a request that does not fit, and leaves the response the rest of the context", async () => {
    const { library, seen } = scripted(says("Hi."), { size: 200 });
    const driver = await llamaFile(library, target({ id: "local/small.gguf" }));
    await answerOf(driver, say("Hello.", { settings: { maxTokens: 5_000 } }));
    expect(seen[0]?.options.maxTokens).toBe(200 - JSON.stringify(seen[0]?.history).length - 1);
    const long = say("x".repeat(300));
    await expect(answerOf(driver, long)).rejects.toMatchObject({
      code: "context-overflow",
      message: expect.stringMatching(
        /^the request has \d+ tokens, and the context of local\/small\.gguf has 200; make/,
      ),
    });
  });

  test("L10: answers one request at a time, and gives a caller that gives up control at once", async () => {
    const gate = Promise.withResolvers<string>();
    const { library, seen } = scripted((options) => Promise.race([gate.promise, whenAborted(options.signal)]));
    const driver = await llamaFile(library, target());
    const running = new AbortController();
    const waiting = new AbortController();
    const first = answerOf(driver, say("Hello."), running.signal);
    const second = answerOf(driver, say("Hello."), waiting.signal);
    const third = answerOf(driver, say("Hello."));
    await expect.poll(() => seen.length).toBe(1);
    waiting.abort(new Error("not needed"));
    await expect(second).rejects.toThrow("not needed");
    expect(seen).toHaveLength(1);
    running.abort(new Error("stopped"));
    await expect(first).rejects.toThrow("stopped");
    gate.resolve("eogToken");
    expect((await third).at(-1)).toMatchObject({ type: "finish", reason: "stop" });
    expect(seen).toHaveLength(2);
  });

  test("L10: a file that cannot be loaded causes an error with advice, and the next request tries again", async () => {
    const { library, loads } = scripted(says("Hi."), { failure: new Error("not enough memory") });
    const driver = await llamaFile(library, target({ id: "local/small.gguf" }));
    for (const attempt of [1, 2]) {
      await expect(answerOf(driver, say("Hello."))).rejects.toThrow(
        `local/small.gguf cannot load ${file}; check that the file is a model in GGUF format that fits into memory, or set a smaller contextSize (not enough memory)`,
      );
      expect(loads()).toBe(attempt);
    }
    await driver.learnContextSize?.(new AbortController().signal);
    expect(driver.contextSize).toBeUndefined();
  });

  test("L10: refuses a forced call, and images", async () => {
    const driver = await llamaFile(scripted(says("Hi.")).library, target({ id: "local/small.gguf" }));
    await expect(answerOf(driver, say("Hello.", { toolChoice: "required" }))).rejects.toThrow(
      "local/small.gguf cannot be forced to call a tool; use another model, or leave out toolChoice",
    );
    const image = { type: "file", mediaType: "image/png", data: "iVBORw0KGgo=" } as const;
    const session = Session.inMemory();
    await expect(new Agent({ model: driver }).send([image], { session })).rejects.toThrow("reads only text");
  });

  test.each([
    [
      "missing.gguf",
      /^There is no file .*missing\.gguf\. Write local\/PATH\.gguf, with a path that is relative to this folder or begins with \/ or ~\/\.$/,
    ],
    ["~/none/such.gguf", /^There is no file \/.*none\/such\.gguf\./],
    [import.meta.filename, /llama\.test\.ts is no \.gguf file\./],
  ])("L10: refuses the path %s", async (model, message) => {
    const opened = llamaFile(scripted(says("Hi.")).library, target({ model }));
    await expect(opened).rejects.toMatchObject({ code: "unknown-model", message: expect.stringMatching(message) });
  });

  test("L10: names the package that is missing", async () => {
    await expect(resolveModel(`local/${file}`)).rejects.toMatchObject({
      code: "missing-package",
      message: expect.stringContaining("Install it: npm install node-llama-cpp@3"),
    });
    await expect(resolveModel("local")).rejects.toThrow("as in local/models/qwen3.gguf");
  });
});

test("L10: answers in a row are one answer, and files are named", () => {
  const answer = (id: string): PromptMessage => ({
    role: "assistant",
    parts: [
      { type: "reasoning", text: "Hm." },
      { type: "text", text: `Asking ${id}.` },
      { type: "call", id, tool: "ask", input: {} },
    ],
    results: [{ call: id, tool: "ask", output: `answer ${id}`, failed: false }],
  });
  const pdf = { type: "file", mediaType: "application/pdf", name: "a.pdf", data: "JVBERg==" } as const;
  const messages: PromptMessage[] = [
    { role: "user", parts: [{ type: "text", text: "Go." }, pdf] },
    answer("1"),
    answer("2"),
  ];
  const call = (id: string) =>
    ({ type: "functionCall", name: "ask", params: {}, result: `answer ${id}`, startsNewChunk: true }) as const;
  expect(llamaHistory(say("Hello.", { messages }))).toEqual([
    { type: "user", text: "Go.\n[a.pdf (application/pdf) is not shown to you: this model reads only text.]" },
    { type: "model", response: ["Asking 1.", call("1"), "Asking 2.", call("2")] },
  ]);
});

test.each([
  [undefined, "anything"],
  [{}, "anything"],
  [{ allOf: [{ type: "string" }] }, "anything"],
  [{ $ref: "https://example.com/schema" }, "anything"],
  [
    { type: "string", pattern: "^a", description: "A." },
    { type: "string", description: "A." },
  ],
  [{ const: 1, type: "number" }, { const: 1 }],
  [{ type: ["string", "null"] }, { oneOf: [{ type: "string" }, { type: "null" }] }],
  [{ anyOf: [{ type: "null" }, { enum: ["a"] }] }, { oneOf: [{ type: "null" }, { enum: ["a"] }] }],
  [
    { type: "array", items: { type: "integer" }, uniqueItems: true },
    { type: "array", items: { type: "integer" } },
  ],
  [
    { type: "object", properties: { a: { type: "number" } }, required: ["a"], additionalProperties: false },
    { type: "object", properties: { a: { type: "number" } }, required: ["a"], additionalProperties: false },
  ],
  [{ $ref: "#/$defs/node", $defs: { node: { type: "string" } } }, { $ref: "#/$defs/node" }],
])("L10: the grammar of %j is %j", (schema, grammar) => {
  const anything = grammarSchema(undefined);
  expect(grammarSchema(schema as never)).toEqual(grammar === "anything" ? anything : grammar);
});

function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
}
