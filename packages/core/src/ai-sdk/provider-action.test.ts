import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import { describe, expect, test } from "vitest";
import type { ModelPart, ModelRequest, PromptMessage } from "../ports/model.ts";
import { fromLanguageModel, type LanguageModelOptions } from "./language-model.ts";
import { streamOf } from "./stream-of.fixture.ts";

type Assistant = Extract<PromptMessage, { role: "assistant" }>;

const finish = (unified: LanguageModelV4FinishReason["unified"] = "stop", raw?: string): LanguageModelV4StreamPart => ({
  type: "finish",
  usage: {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  },
  finishReason: { unified, raw },
});

const search = {
  type: "tool-call",
  toolCallId: "s1",
  toolName: "web_search",
  input: '{"query":"figs"}',
  providerExecuted: true,
  providerMetadata: { acme: { caller: "direct" } },
} as const;
const found = {
  type: "tool-result",
  toolCallId: "s1",
  toolName: "web_search",
  result: [{ url: "https://figs.example/" }],
} as const;

/** The call and the result in the form sent back. */
const searchSent = {
  type: "tool-call",
  toolCallId: "s1",
  toolName: "web_search",
  input: { query: "figs" },
  providerExecuted: true,
  providerOptions: { acme: { caller: "direct" } },
};
const foundSent = {
  type: "tool-result",
  toolCallId: "s1",
  toolName: "web_search",
  output: { type: "json", value: [{ url: "https://figs.example/" }] },
};

const user: PromptMessage = { role: "user", parts: [{ type: "text", text: "Hello" }] };

function ask(
  messages: readonly PromptMessage[],
  {
    stream = [finish()],
    provider = "acme.chat",
    request = {},
    options = {},
  }: {
    stream?: readonly LanguageModelV4StreamPart[];
    provider?: string;
    request?: Partial<ModelRequest>;
    options?: LanguageModelOptions;
  } = {},
): Promise<{ parts: ModelPart[]; asked: LanguageModelV4CallOptions }> {
  const asked = Promise.withResolvers<LanguageModelV4CallOptions>();
  const model: LanguageModelV4 = {
    specificationVersion: "v4",
    provider,
    modelId: "large",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("not asked for")),
    doStream: async (given) => {
      asked.resolve(given);
      return { stream: streamOf(stream) };
    },
  };
  const parts: ModelPart[] = [];
  const sink = { push: (pushed: readonly ModelPart[]) => parts.push(...pushed) > 0, ready: async () => {} };
  return fromLanguageModel(model, options)
    .stream(
      { instructions: "", messages, tools: [], toolChoice: "auto", settings: {}, ...request },
      sink,
      new AbortController().signal,
    )
    .then(async () => ({ parts, asked: await asked.promise }));
}

/** The parts of an answer that the loop would keep: here, text and the provider's actions. */
async function answered(
  stream: readonly LanguageModelV4StreamPart[],
  more: Partial<Assistant> = {},
): Promise<Assistant> {
  const { parts } = await ask([user], { stream });
  const kept = parts.filter((part) => part.type === "provider" || part.type === "text");
  return { role: "assistant", parts: kept, results: [], ...more };
}

const contents = ({ asked }: { asked: LanguageModelV4CallOptions }) =>
  asked.prompt.map(({ role, content }) => [role, content]);

describe("actions of a provider", () => {
  test("an action is kept in its place with a few words for users, and is no call of the agent", async () => {
    const { parts } = await ask([user], {
      stream: [
        { type: "text-delta", id: "1", delta: "Let me see." },
        { type: "text-end", id: "1" },
        { type: "tool-input-start", id: "s1", toolName: "web_search", providerExecuted: true },
        { type: "tool-input-delta", id: "s1", delta: '{"query":"figs"}' },
        { type: "tool-input-end", id: "s1" },
        search,
        { ...found, preliminary: true },
        found,
        { type: "text-delta", id: "2", delta: "Figs!" },
        finish(),
      ],
    });
    expect(parts.map((part) => part.type)).toEqual([
      "text",
      "part-end",
      "provider",
      "provider",
      "text",
      "part-end",
      "finish",
    ]);
    expect(parts.flatMap((part) => (part.type === "provider" ? [part.text] : []))).toEqual([
      'web_search {"query":"figs"}',
      "web_search answered",
    ]);
    expect(parts.at(-1)).toMatchObject({ reason: "stop" });
  });

  test("goes back to it as it came", async () => {
    const answer = await answered([search, found, { type: "text-delta", id: "2", delta: "Figs!" }, finish()]);
    expect(contents(await ask([user, answer, user]))).toEqual([
      ["user", [{ type: "text", text: "Hello" }]],
      ["assistant", [searchSent, foundSent, { type: "text", text: "Figs!" }]],
      ["user", [{ type: "text", text: "Hello" }]],
    ]);
  });

  test("goes back after the log was written and read again", async () => {
    const answer = await answered([search, found, finish()]);
    const reread = JSON.parse(JSON.stringify(answer)) as Assistant;
    expect(contents(await ask([user, reread]))).toEqual(contents(await ask([user, answer])));
  });

  test("a failed action is sent back as a failure", async () => {
    const answer = await answered([
      search,
      { ...found, isError: true, result: { errorCode: "unavailable" } },
      finish(),
    ]);
    expect(answer.parts[1]).toMatchObject({ text: "web_search failed" });
    expect(contents(await ask([user, answer]))[1]?.[1]).toEqual([
      searchSent,
      { ...foundSent, output: { type: "error-json", value: { errorCode: "unavailable" } } },
    ]);
  });

  test("content for the provider alone is sent back too", async () => {
    const answer = await answered([
      { type: "custom", kind: "anthropic.message_start" },
      { type: "custom", kind: "acme.fallback", providerMetadata: { acme: { from: "large" } } },
      finish(),
    ]);
    expect(contents(await ask([user, answer]))[1]?.[1]).toEqual([
      { type: "custom", kind: "acme.fallback", providerOptions: { acme: { from: "large" } } },
    ]);
  });

  test("is not shown to another provider, whichever was asked first", async () => {
    const answer = await answered([search, found, { type: "text-delta", id: "2", delta: "Figs!" }, finish()]);
    const other = () => ask([user, answer], { provider: "other" });
    expect(contents(await other())[1]?.[1]).toEqual([{ type: "text", text: "Figs!" }]);
    expect(contents(await ask([user, answer]))[1]?.[1]).toHaveLength(3);
    expect(contents(await other())[1]?.[1]).toHaveLength(1);
  });

  test("actions of an answer that broke off are left out: the provider may not know them any more", async () => {
    const text = { type: "text-delta", id: "2", delta: "Figs!" } as const;
    const answer = await answered([search, found, text, finish()], { unfinished: true });
    expect(contents(await ask([user, answer, user]))[1]?.[1]).toEqual([{ type: "text", text: "Figs!" }]);
  });
});

describe("a pause of the provider", () => {
  const pausing = [{ type: "text-delta", id: "1", delta: "Searching." } as const, search, finish("stop", "pause_turn")];

  test("is reported as a pause, unless there are calls to run", async () => {
    expect((await ask([user], { stream: pausing })).parts.at(-1)).toMatchObject({ type: "finish", reason: "paused" });
    const calling: LanguageModelV4StreamPart[] = [
      { type: "tool-call", toolCallId: "c", toolName: "look", input: "{}" },
      finish("stop", "pause_turn"),
    ];
    expect((await ask([user], { stream: calling })).parts.at(-1)).toMatchObject({ type: "finish", reason: "calls" });
  });

  test("leaves the call open for the provider, which continues with it", async () => {
    const first = await answered(pausing, { paused: true });
    expect(contents(await ask([user, first]))[1]?.[1]).toEqual([{ type: "text", text: "Searching." }, searchSent]);
    const second = await answered([found, finish()]);
    expect(contents(await ask([user, first, second, user])).map(([, content]) => content)).toEqual([
      [{ type: "text", text: "Hello" }],
      [{ type: "text", text: "Searching." }, searchSent],
      [foundSent],
      [{ type: "text", text: "Hello" }],
    ]);
  });

  test("with another message after it ends the call: it has no result and is not shown any more", async () => {
    const first = await answered(pausing, { paused: true });
    expect(contents(await ask([user, first, user]))[1]?.[1]).toEqual([{ type: "text", text: "Searching." }]);
    const bare = await answered([search, finish("stop", "pause_turn")], { paused: true });
    expect(contents(await ask([user, bare, user])).map(([role]) => role)).toEqual(["user", "user"]);
  });
});

describe("tools that the provider runs", () => {
  const own = { name: "look", description: "", input: { type: "object" } } as const;
  const serverTools = [
    { id: "acme.search_1", name: "search", args: { maxUses: 2 } },
    { id: "other.search_1", name: "search" },
  ] as const;

  test("follow the agent's tools, and tools of another provider are left out", async () => {
    const { asked } = await ask([user], { request: { tools: [own], settings: { serverTools } } });
    expect(asked.tools).toEqual([
      expect.objectContaining({ type: "function", name: "look" }),
      { type: "provider", id: "acme.search_1", name: "search", args: { maxUses: 2 } },
    ]);
  });

  test("are offered without any of ours", async () => {
    const { asked } = await ask([user], { request: { settings: { serverTools } }, provider: "other.chat" });
    expect(asked.tools).toEqual([{ type: "provider", id: "other.search_1", name: "search", args: {} }]);
  });
});

test("a refusal is filtered, with the provider's words about it", async () => {
  const refused = {
    ...finish("content-filter", "refusal"),
    providerMetadata: { acme: { stopDetails: { explanation: "No." } } },
  };
  const { parts } = await ask([user], { stream: [refused as LanguageModelV4StreamPart] });
  expect(parts.at(-1)).toMatchObject({ type: "finish", reason: "filtered", explanation: "No." });
});

test("the provider's own part of a request is new for each request, and the shared part stays", async () => {
  const answer: Assistant = { role: "assistant", parts: [{ type: "text", text: "Hi" }], results: [] };
  const mark = (text: string): LanguageModelOptions => ({
    adapt: (request) => ({
      ...request,
      prompt: request.prompt.map((message) => ({ ...message, providerOptions: { acme: { mark: text } } })),
    }),
  });
  for (const text of ["one", "two"]) {
    const { asked } = await ask([user, answer], { options: mark(text) });
    expect(asked.prompt.map(({ providerOptions }) => providerOptions)).toEqual(Array(2).fill({ acme: { mark: text } }));
  }
  const plain = await ask([user, answer]);
  expect(plain.asked.prompt.every((message) => !("providerOptions" in message))).toBe(true);
});
