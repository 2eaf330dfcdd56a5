import type { Json, ModelSettings } from "@banyan/core";
import type { ProviderData } from "@banyan/core/conversation";
import type { ModelRequest, PromptMessage } from "@banyan/core/drivers";
import fc from "fast-check";
import { expect, test } from "vitest";
import { KeepingSink } from "../testing/sink.ts";
import { openDriver } from "./judge.fixture.ts";

interface Sent {
  readonly address: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly key: string | null;
}

/** The request that a driver sends; the code of its error if it sends none. */
async function sentBy(name: string, driver: "own" | "package", request: ModelRequest): Promise<Sent | string> {
  let sent: Sent | undefined;
  const fetch: typeof globalThis.fetch = async (address, init) => {
    const headers = new Headers(init?.headers);
    const key = headers.get("authorization") ?? headers.get("api-key");
    sent = { address: String(address), body: JSON.parse(String(init?.body)), key };
    return new Response("", { headers: { "content-type": "text/event-stream" } });
  };
  const model = await openDriver(name, driver, fetch);
  const error = await model.stream(request, new KeepingSink(), new AbortController().signal).catch((error) => error);
  // A package refuses some settings only with the answer.
  return error.code === "broken-stream" && sent ? sent : error.code;
}

/** Without the differences that the documentation names. */
function comparable(sent: Sent | string): unknown {
  if (typeof sent === "string") return sent;
  const { stream_options: _, include, ...body } = sent.body;
  return { ...sent, body: { ...body, include: Array.isArray(include) ? include.toSorted() : [] } };
}

async function expectSame(name: string, request: ModelRequest): Promise<void> {
  const [own, theirs] = [await sentBy(name, "own", request), await sentBy(name, "package", request)];
  expect(comparable(own)).toEqual(comparable(theirs));
}

const word = fc.stringMatching(/^[a-z]{1,8}$/);
const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }).filter((said) => said.trim() !== "");
const maybe = <Value>(of: fc.Arbitrary<Value>) => fc.option(of, { nil: undefined });

/** A history as the log keeps it after answers of a provider. */
function historyOf(provider: string): fc.Arbitrary<readonly PromptMessage[]> {
  const own = (data: Readonly<Record<string, Json>>) => ({ [provider]: data });
  const id = word.map((name) => `id_${name}`);
  const said = fc
    .tuple(text, maybe(id), maybe(fc.constantFrom("commentary", "final_answer")))
    .map(([said, itemId, phase]) => {
      return {
        type: "text" as const,
        text: said,
        ...(itemId === undefined || provider === "xai"
          ? {}
          : { provider: own({ itemId, ...(phase && provider !== "xai" ? { phase } : {}) }) }),
      };
    });
  const thought = fc
    .tuple(fc.oneof(text, fc.constant("")), id, fc.option(word, { nil: null }))
    .map(([said, itemId, encrypted]) => ({
      type: "reasoning" as const,
      text: said,
      provider: own({
        itemId,
        ...(encrypted === null && provider === "xai" ? {} : { reasoningEncryptedContent: encrypted }),
      }),
    }));
  const foreign = text.map((said) => ({
    type: "reasoning" as const,
    text: said,
    provider: { anthropic: { signature: "s" } },
  }));
  const output = fc.oneof(
    fc.constant({
      type: "json",
      value: { action: { type: "search", query: "figs" }, sources: [{ type: "url", url: "https://a.example" }] },
    }),
    fc.constant({ type: "json", value: { action: { type: "openPage", url: "https://a.example" } } }),
    fc.constant({ type: "error-json", value: { status: "failed" } }),
    fc.constant({ type: "json", value: { queries: [], results: null } }),
  );
  const action = fc
    .tuple(
      fc.constantFrom(...["web_search", "web", "file_search", "code_interpreter", "programmatic_tool_calling"]),
      output,
      id,
    )
    .map(([toolName, output, itemId]) => {
      const about = { toolCallId: "ws_1", toolName };
      const isProgram = toolName === "programmatic_tool_calling";
      const input = isProgram ? { code: "run()", fingerprint: "f" } : {};
      const value = isProgram ? { type: "json", value: { result: "1", status: "completed" } } : output;
      return [
        { type: "tool-call", ...about, input, providerExecuted: true, providerOptions: own({ itemId }) },
        { type: "tool-result", ...about, output: value },
      ].map((part) => ({ type: "provider" as const, text: "", provider: { [provider]: { part: part as Json } } }));
    });
  const compaction = id.map((itemId) => {
    const part = {
      type: "custom",
      kind: "openai.compaction",
      providerOptions: own({ type: "compaction", itemId, encryptedContent: "e" }),
    };
    return [{ type: "provider" as const, text: "", provider: { [provider]: { part } } }];
  });
  const result = fc.record({
    output: text,
    failed: fc.boolean(),
    files: maybe(fc.constant([{ type: "file" as const, mediaType: "image/png", data: "aGk=" }])),
  });
  const call = fc.tuple(fc.dictionary(word, text, { maxKeys: 2 }), maybe(id), maybe(word), result);
  const answer = fc
    .record({
      parts: fc.array(
        fc.oneof(
          said.map((part) => [part]),
          thought.map((part) => [part]),
          foreign.map((part) => [part]),
          action,
          compaction,
        ),
        { maxLength: 4 },
      ),
      calls: fc.array(call, { maxLength: 2 }),
      isUnfinished: fc.boolean(),
      last: said,
    })
    .map(
      ({ parts, calls, isUnfinished, last }): PromptMessage => ({
        role: "assistant",
        parts: [
          ...parts.flat(),
          ...calls.map(([input, itemId, namespace], index) => ({
            type: "call" as const,
            id: `call_${index}`,
            tool: "look",
            input,
            ...(itemId === undefined
              ? {}
              : { provider: own({ itemId, ...(namespace && provider !== "xai" ? { namespace } : {}) }) }),
          })),
          ...(calls.length > 0 ? [] : [last]),
        ],
        results: calls.map(([, , , { files, ...result }], index) => {
          return { call: `call_${index}`, tool: "look", ...result, ...(files ? { files } : {}) };
        }),
        ...(isUnfinished ? { unfinished: true as const } : {}),
      }),
    );
  const file = fc.constantFrom(
    { type: "file" as const, mediaType: "image/png", data: "aGk=" },
    { type: "file" as const, mediaType: "image/jpeg", url: "https://a.example/dot.jpg" },
    { type: "file" as const, mediaType: "application/pdf", url: "https://a.example/paper.pdf" },
    ...(provider === "xai"
      ? []
      : [{ type: "file" as const, mediaType: "application/pdf", name: "paper.pdf", data: "aGk=" }]),
  );
  const asked = fc.array(
    fc.oneof(
      text.map((said) => ({ type: "text" as const, text: said })),
      file,
    ),
    { minLength: 1, maxLength: 3 },
  );
  const question = asked.map((parts): PromptMessage => ({ role: "user", parts }));
  return fc
    .tuple(fc.array(fc.tuple(question, answer), { maxLength: 3 }), question)
    .map(([turns, last]) => [...turns.flat(), last]);
}

const input = { type: "object", properties: { at: { type: "string" } } };
const tool = { name: "look", description: "Looks.", input };

function settingsOf(provider: "openai" | "azure" | "xai"): fc.Arbitrary<ModelSettings> {
  const isXai = provider === "xai";
  const common = {
    parallelToolCalls: fc.boolean(),
    promptCacheKey: word,
    serviceTier: fc.constantFrom("default", ...(isXai ? ["priority"] : ["auto"])),
    user: word,
    include: fc.constant(["file_search_call.results"]),
    safetyIdentifier: word,
  };
  const ofXai = {
    maxTurns: fc.nat(9),
    topLogprobs: fc.nat(8),
    reasoningEffort: fc.constantFrom("low", "high"),
    minP: fc.constant(0.5),
  };
  const ofOpenAI = {
    store: fc.boolean(),
    conversation: word,
    previousResponseId: word,
    maxToolCalls: fc.nat(9),
    metadata: fc.constant({ teamName: "a" }),
    instructions: word,
    truncation: fc.constantFrom("auto", "disabled"),
    textVerbosity: fc.constantFrom("low", "high"),
    reasoningEffort: fc.constantFrom("low", "none"),
    reasoningSummary: fc.constantFrom("auto", "detailed"),
    reasoningMode: fc.constant("pro"),
    promptCacheRetention: fc.constant("24h"),
    promptCacheOptions: fc.constant({ mode: "explicit", comparisonResponseId: "resp_1" }),
    contextManagement: fc.constant([{ type: "compaction", compactThreshold: 9 }]),
    compactionTrigger: fc.boolean(),
    systemMessageMode: fc.constantFrom("system", "remove"),
    forceReasoning: fc.boolean(),
    strictJsonSchema: fc.boolean(),
    allowedTools: fc.constant({ toolNames: ["look", "web"], mode: "required" }),
    logprobs: fc.constantFrom(true, 3),
  };
  const fields: Readonly<Record<string, fc.Arbitrary<unknown>>> = { ...common, ...(isXai ? ofXai : ofOpenAI) };
  const options = fc.record(fields, { requiredKeys: [] });
  const serverTools = (isXai
    ? [
        { id: "xai.web_search", name: "web", args: { allowedDomains: ["a.example"], enableImageSearch: true } },
        { id: "xai.code_execution", name: "python" },
        { id: "xai.x_search", name: "x", args: { fromDate: "2026-01-01" } },
        { id: "xai.mcp", name: "mcp", args: { serverUrl: "https://a.example", headers: { "x-Key": "a" } } },
      ]
    : [
        {
          id: "openai.web_search",
          name: "web",
          args: { searchContextSize: "low", filters: { allowedDomains: ["a.example"] } },
        },
        {
          id: "openai.file_search",
          name: "files",
          args: { vectorStoreIds: ["vs_1"], ranking: { ranker: "auto", scoreThreshold: 0.5 } },
        },
        { id: "openai.code_interpreter", name: "python", args: { container: { fileIds: ["file-1"] } } },
        {
          id: "openai.image_generation",
          name: "draw",
          args: { outputFormat: "png", inputImageMask: { fileId: "file-1" } },
        },
        {
          id: "openai.mcp",
          name: "docs",
          args: {
            serverLabel: "docs",
            serverUrl: "https://a.example",
            headers: { "x-Key": "a" },
            requireApproval: { never: { toolNames: ["a"] } },
          },
        },
        { id: "openai.shell", name: "sh", args: { environment: { type: "containerAuto", memoryLimit: "1g" } } },
        { id: "openai.programmatic_tool_calling", name: "program" },
        { id: "other.search", name: "other" },
      ]) as unknown as NonNullable<ModelSettings["serverTools"]>;
  return fc
    .record(
      {
        temperature: fc.constant(0.5),
        maxTokens: fc.nat(900),
        // xAI's package does not know "max" yet, and sends no effort. Our driver sends the highest effort of the model.
        effort: fc.constantFrom("none", "minimal", "low", "high", ...(isXai ? [] : ["max"])),
        topP: fc.constant(0.5),
        providerOptions: options.map((own) => ({ [provider]: own as Readonly<Record<string, Json>> })),
        serverTools: fc.subarray([...serverTools]),
      },
      { requiredKeys: [] },
    )
    .map((settings) => settings as ModelSettings);
}

test.each([
  ["openai", "openai/gpt-5"],
  ["openai", "openai/gpt-5.6"],
  ["openai", "openai/gpt-4.1"],
  ["openai", "openai/o3"],
  ["azure", "azure/my-deployment"],
  ["xai", "xai/grok-4.5"],
] as const)("V1: sends generated requests as the package of %s does: %s", async (provider, name) => {
  const request = fc.record({
    instructions: fc.oneof(text, fc.constant("")),
    messages: historyOf(provider),
    tools: fc.constantFrom([], [tool]),
    toolChoice: fc.constantFrom<ModelRequest["toolChoice"]>("auto", "none"),
    settings: settingsOf(provider),
    output: maybe(fc.constant({ type: "object", properties: { a: { type: "string" } }, required: ["a"] })),
  });
  await fc.assert(
    fc.asyncProperty(request, async (request) => expectSame(name, request)),
    { numRuns: process.env.BANYAN_LONG ? 2_000 : 60 },
  );
});

test.each<readonly [tool: string, input: Json]>([
  ["local_shell", { action: { type: "exec", command: ["ls"], env: { aKey: "a" } } }],
  ["shell", { action: { commands: ["ls"], timeoutMs: 9 } }],
  ["apply_patch", { callId: "call_1", operation: { type: "delete_file", path: "a.txt" } }],
  ["custom", { at: "x" }],
])("V1: sends a call of %s as the package does, with and without the id of its item", async (kind, input) => {
  const marks: readonly (ProviderData | undefined)[] = [
    undefined,
    { openai: { itemId: "sh_1" } },
    { anthropic: { signature: "s" } },
  ];
  for (const provider of marks) {
    const call = { type: "call", id: "call_1", tool: kind, input, ...(provider && { provider }) } as const;
    const result = { call: "call_1", tool: kind, output: "done", failed: false };
    await expectSame("openai/gpt-5.4", {
      instructions: "",
      messages: [
        { role: "user", parts: [{ type: "text", text: "Hi" }] },
        { role: "assistant", parts: [call], results: [result] },
      ],
      tools: [],
      toolChoice: "auto",
      settings: { serverTools: [{ id: `openai.${kind}`, name: kind }] },
    });
  }
});
