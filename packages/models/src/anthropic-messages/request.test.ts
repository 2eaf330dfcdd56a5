import { anthropicModelCatalog } from "@ai-sdk/anthropic/internal";
import type { ModelDriver, ModelSettings } from "@banyan/core";
import { ModelError } from "@banyan/core";
import type { ModelRequest, PromptMessage } from "@banyan/core/drivers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bodyOf, serve, type TestServer } from "../testing/server.ts";
import { KeepingSink, say } from "../testing/sink.ts";
import { anthropicMessages } from "./driver.ts";
import { Heads } from "./head.ts";
import { throughPackage } from "./package.ts";
import { plainHead } from "./plain-head.ts";
import { encodeMessages } from "./request.ts";

type Answer = Extract<PromptMessage, { role: "assistant" }>;
type UserParts = Extract<PromptMessage, { role: "user" }>["parts"];

const text = (said: string) => ({ type: "text", text: said }) as const;
const user = (...parts: UserParts): PromptMessage => ({ role: "user", parts });
const answer = (...parts: Answer["parts"]): Answer => ({ role: "assistant", parts, results: [] });
const thought = (said: string, own?: Record<string, string>) =>
  ({ type: "reasoning", text: said, ...(own ? { provider: { anthropic: own } } : {}) }) as const;
const call = (id: string, more: object = {}) =>
  ({ type: "call", id, tool: "look", input: { at: id }, ...more }) as const;
const called = (parts: Answer["parts"], failed = false): Answer => ({
  ...answer(...parts),
  results: parts.flatMap((part) =>
    part.type === "call" ? [{ call: part.id, tool: part.tool, output: `seen ${part.id}`, failed }] : [],
  ),
});
const byAnother = { provider: { openai: { itemId: "rs_1" } } };
const searched = { type: "tool-call", toolCallId: "s1", toolName: "web_search", input: {}, providerExecuted: true };

/** Messages of every kind that our own code encodes. */
const plain: Readonly<Record<string, PromptMessage>> = {
  "a text": user(text("Hello")),
  "texts, one of them empty": user(text("One"), text(""), text("two")),
  "no text at all": user(text("")),
  "images, with bytes and by address": user(
    { type: "file", mediaType: "image/png", data: "QUJD" },
    { type: "file", mediaType: "image/jpeg", url: "https://a.example/b c.jpg" },
    { type: "file", mediaType: "image/*", url: "https://a.example/d" },
  ),
  "a PDF": user({ type: "file", mediaType: "application/pdf", name: "a.pdf", data: "QUJD" }, text("Read")),
  "a PDF by address": user({ type: "file", mediaType: "application/pdf", url: "https://a.example/a.pdf" }),
  "a text file": user({ type: "file", mediaType: "text/plain", name: "a.txt", data: "WmHFvMOzxYLEhyDwn4yz" }),
  "a text file by address": user({ type: "file", mediaType: "text/plain", url: "https://a.example/a.txt" }),
  "an answer": answer(text(" Yes.\n")),
  "an answer in two parts, and an empty one": answer(text("Yes"), text(""), text("indeed.")),
  "an answer without words": answer({ ...text(""), ...byAnother }),
  "a call": called([text("Let me see."), call("call_1")]),
  "calls between words": called([call("a"), text("and"), call("b"), text("then"), call("c")]),
  "a call that failed": called([call("a")], true),
  "a call with an id of another form": called([call("functions.look:0")]),
  "a call that the model made itself": called([call("a", { provider: { anthropic: { caller: { type: "direct" } } } })]),
  "a call with data of another provider": called([call("a", byAnother)]),
  "signed reasoning": called([thought("Hm.", { signature: "c2ln" }), text("So."), call("a")]),
  "reasoning that is hidden": called([thought("", { redactedData: "eHg=" }), call("a")]),
  "reasoning between calls": called([call("a"), thought("Hm.", { signature: "c2ln" }), call("b")]),
  "reasoning without a signature": answer(thought("Hm."), text("So.")),
  "reasoning of another model": answer({ ...thought("Hm."), ...byAnother }, text("So.")),
  "nothing but reasoning without a signature": answer(thought("Hm.")),
  "what another provider did": answer(text("So."), { type: "provider", text: "", provider: { openai: { part: {} } } }),
  "an answer that broke off": { ...answer(thought("Hm.", { signature: "c2ln" }), text("Ye")), unfinished: true },
  "what was searched for an answer that broke off": {
    ...answer(text("Ye"), { type: "provider", text: "", provider: { anthropic: { part: searched } } }),
    unfinished: true,
  },
};

/** Messages that only the package can encode. */
const rare: Readonly<Record<string, PromptMessage>> = {
  "an audio file": user({ type: "file", mediaType: "audio/mpeg", data: "QUJD" }),
  "an image of any kind": user({ type: "file", mediaType: "image/*", data: "iVBORw0KGgo=" }),
  "a file without bytes": user({ type: "file", mediaType: "image/png" }),
  "a text with options": user({ ...text("x"), provider: { anthropic: { cacheControl: { type: "ephemeral" } } } }),
  "a cited text": answer({ ...text("x"), provider: { anthropic: { citations: [] } } }),
  "a call from within a tool": called([
    call("a", { provider: { anthropic: { caller: { type: "code_execution_20250825", toolId: "s1" } } } }),
  ]),
  "what was searched": answer(text("x"), { type: "provider", text: "", provider: { anthropic: { part: searched } } }),
};

const tools = [
  { name: "look", description: "Looks.", input: { type: "object", properties: {} } },
  { name: "peek", description: "", input: { type: "object" } },
] as const;

interface Sent {
  readonly body: Record<string, unknown> | undefined;
  readonly betas: readonly string[];
  readonly key: unknown;
  /** The code of the error at its end. */
  readonly code: string;
}

let server: TestServer;
let last: Omit<Sent, "code"> | undefined;
beforeAll(async () => {
  server = await serve(async (request, response) => {
    const { "anthropic-beta": beta, "x-api-key": key, "anthropic-version": version } = request.headers;
    const betas = String(beta ?? "")
      .split(",")
      .sort();
    last = { body: JSON.parse(await bodyOf(request)), betas, key: [key, version, request.url] };
    response.writeHead(400, { "content-type": "application/json" }).end('{"error":{"message":"enough"}}');
  });
});
afterAll(() => server[Symbol.asyncDispose]());

/** Returns a driver's request and how it ends. */
async function sentBy(driver: ModelDriver, request: ModelRequest): Promise<Sent> {
  last = undefined;
  const code = await driver.stream(request, new KeepingSink(), new AbortController().signal).then(
    () => "none",
    (error) => (error instanceof ModelError ? error.code : String(error)),
  );
  return { ...(last ?? { body: undefined, betas: [], key: undefined }), code };
}

async function expectEqual(model: string, ...requests: readonly ModelRequest[]): Promise<void> {
  const options = { id: `anthropic/${model}`, model, baseURL: server.baseURL, apiKey: "sk-secret" };
  const own = anthropicMessages(options);
  const theirs = await throughPackage(options);
  for (const request of requests) expect(await sentBy(own, request)).toEqual(await sentBy(theirs, request));
}

const SONNET = "claude-sonnet-4-5";

describe("a request equals the request of the provider's package", () => {
  test.each(Object.entries(plain))("with %s, alone and before everything else", async (_, message) => {
    const before = user(text("First"));
    const requests = Object.values(plain).map((next) =>
      say("", { messages: [before, message, next, user(text("Now"))] }),
    );
    for (const request of requests) expect(encodeMessages(request)).toBeDefined();
    await expectEqual(SONNET, say("", { messages: [message] }), ...requests);
  });

  test.each(Object.entries(rare))("with %s: the package sends it", async (_, message) => {
    const request = say("", { messages: [user(text("First")), message, user(text("Now"))] });
    expect(encodeMessages(request)).toBeUndefined();
    await expectEqual(SONNET, request);
  });

  test("that ends with an answer, which the package accepts as the end", async () => {
    const request = say("", { messages: [user(text("First")), { ...answer(text("So ")), paused: true }] });
    expect(encodeMessages(request)).toBeUndefined();
    await expectEqual(SONNET, request);
  });

  const models = [SONNET, "claude-sonnet-5", "claude-opus-4-1", "claude-3-haiku-20240307", "no-such-model"];
  const efforts = ["none", "minimal", "low", "medium", "high", "max"] as const;
  test.each(models)("whatever the effort, of %s", async (model) => {
    await expectEqual(model, ...efforts.map((effort) => say("Hi", { settings: { effort } })));
  });

  const own = (options: ModelSettings["providerOptions"]): ModelSettings => ({
    providerOptions: { anthropic: options as never, openai: { user: "x" } },
  });
  const settings: Readonly<Record<string, ModelSettings>> = {
    "the usual settings": { temperature: 0.5, maxTokens: 300, stop: ["END"] },
    "more tokens than the model gives": { maxTokens: 1e9 },
    thinking: own({ thinking: { type: "enabled", budgetTokens: 2000 } } as never),
    "an effort of its own": { effort: "low", ...own({ effort: "high" } as never) },
    "marks of the user's": own({ cacheControl: { type: "ephemeral", ttl: "1h" } } as never),
    "one call at a time": own({ disableParallelToolUse: true } as never),
    "who it is for": own({ metadata: { userId: "u" }, serviceTier: "standard_only" } as never),
    "arguments in one piece": own({ toolStreaming: false } as never),
    betas: own({ anthropicBeta: ["some-beta-2026"], speed: "fast" } as never),
  };
  test.each(Object.entries(settings))("with %s, with tools and without", async (_, settings) => {
    const messages = [user(text("Hi")), plain["signed reasoning"] as PromptMessage, plain["a PDF"] as PromptMessage];
    const base = { messages, settings };
    for (const instructions of ["", "Be brief."]) {
      const request = say("", { ...base, instructions, tools });
      expect(encodeMessages(request)).toBeDefined();
      await expectEqual(SONNET, request, { ...request, toolChoice: "none" }, { ...request, tools: [] });
    }
  });

  // Equal for all models: the settings that our own code writes, and their neighbours that the package writes.
  const plainSettings: readonly ModelSettings[] = [
    {},
    { temperature: 0 },
    { temperature: 1, stop: ["END"] },
    { temperature: 1.5 },
    { maxTokens: 100, stop: [] },
    { maxTokens: 64_001 },
  ];
  const unknown = ["claude-haiku-5", "claude-3-5-haiku"];
  const others = ["claude-sonnet-4@20250514", "claude-sonnet-4-7", ...unknown, "llama", "kimi-k2"];
  test.each([...Object.keys(anthropicModelCatalog), ...others])("with plain settings of %s", async (model) => {
    // The package sends a forced call that a model refuses, and then reports an error. Our own code sends nothing.
    const refusesForced = /claude-((sonnet|opus)-5-5|fable-5-\d)/.test(model);
    expect(refusesForced && plainHead(model, say("Hi", { tools, toolChoice: "required" }))).toBeFalsy();
    const choices = ["auto", "none", ...(refusesForced ? [] : (["required", { tool: "peek" }] as const))] as const;
    const requests = plainSettings.flatMap((settings) =>
      ["", "Be brief."].map((instructions) => say("Hi", { settings, instructions })),
    );
    for (const toolChoice of choices) requests.push(say("Hi", { tools, toolChoice }));
    requests.push(say("Hi", { tools, instructions: "Be brief." }));
    await expectEqual(model, ...requests);
    for (const request of requests.slice(0, 2))
      expect(plainHead(model, request) !== undefined).toBe(!unknown.includes(model));
  });

  const more: Readonly<Record<string, ModelSettings>> = {
    "tools that Anthropic runs": {
      serverTools: [{ id: "anthropic.web_search_20250305", name: "web_search", args: { maxUses: 2 } }],
    },
    "servers that Anthropic asks": own({ mcpServers: [{ type: "url", name: "a", url: "https://a.example" }] } as never),
    "reasoning left out": own({ sendReasoning: false } as never),
    "an option that does not exist": own({ noSuchOption: 1 } as never),
  };
  test.each(Object.entries(more))("with %s: the package sends it", async (_, settings) => {
    const request = say("", {
      settings,
      tools,
      messages: [plain["signed reasoning"] as PromptMessage, user(text("Hi"))],
    });
    expect(encodeMessages(request)).toBeUndefined();
    await expectEqual(SONNET, request);
  });

  test("that the package refuses causes the same error, and is not sent", async () => {
    const request = say("Hi", { settings: own({ thinking: "a lot" } as never) });
    await expectEqual(SONNET, request);
    expect(last).toBeUndefined();
  });

  test("with the user's headers, including betas", async () => {
    const headers = { "Anthropic-Beta": "mine-2026", "x-title": "T" };
    const options = { id: "anthropic/m", model: "claude-sonnet-5", baseURL: server.baseURL, apiKey: "k", headers };
    const request = say("", { messages: [plain["a PDF"] as PromptMessage] });
    const sent = await sentBy(anthropicMessages(options), request);
    expect(sent.betas).toEqual(["mine-2026", "pdfs-2024-09-25"]);
    expect(sent).toEqual(await sentBy(await throughPackage(options), request));
  });
});

test.each([
  ["we send", plain["a text"]],
  ["the package sends", rare["a cited text"]],
])("of a request that %s leaves out later additions to its messages", async (_, message) => {
  const messages = [user(text("First")), message as PromptMessage, user(text("Now"))];
  const driver = anthropicMessages({ id: "anthropic/m", model: SONNET, baseURL: server.baseURL, apiKey: "k" });
  const sending = sentBy(driver, say("", { messages }));
  messages.push(user(text("Later")));
  expect(JSON.stringify((await sending).body)).toContain("Now");
  expect(JSON.stringify((await sending).body)).not.toContain("Later");
});

test("encodes each message once for any number of steps", () => {
  const reads = new Map<object, number>();
  const history: PromptMessage[] = [];
  for (const step of ["1", "2", "3"]) {
    const said = step === "2" ? called([call(step)]) : user(text(step));
    history.push(
      new Proxy(said, {
        get(target, key, self) {
          if (key === "parts") reads.set(target, (reads.get(target) ?? 0) + 1);
          return Reflect.get(target, key, self);
        },
      }),
    );
    encodeMessages(say("", { messages: history }));
  }
  expect([...reads.values()]).toHaveLength(3);
  expect(new Set(reads.values()).size).toBe(1);
});

test("each step of an agent has the same head, which is asked for once", async () => {
  const heads = new Heads({ id: "anthropic/m", model: SONNET, baseURL: server.baseURL, apiKey: "k" });
  const settings = { temperature: 1 };
  const step = say("One", { settings, tools, instructions: "Be brief." });
  const head = heads.of(step);
  expect(heads.of({ ...step, messages: [...step.messages, user(text("Two"))] })).toBe(head);
  const others = [
    { ...step, toolChoice: "none" } as const,
    { ...step, instructions: "" },
    { ...step, tools: [...tools] },
    { ...step, settings: { temperature: 0 } },
  ];
  const texts = await Promise.all([step, ...others].map(async (request) => (await heads.of(request)).text));
  expect(texts[3]).toBe(texts[0]);
  expect(new Set(texts).size).toBe(4);
});
