import { crc32 } from "node:zlib";
import { Agent, defineTool, Session, type Tool, type TurnError, textOf } from "@banyan/core";
import type { FeedItem } from "@banyan/core/conversation";
import { describe, expect, test } from "vitest";
import type { EnvironmentVariables } from "./environment.ts";
import { resolveModel } from "./resolve.ts";
import { chunk, eventOf, serve } from "./testing/server.ts";

// Whole turns against a server with answers from public bug reports: checks the user's result and the number of model
// calls. All formats and packages that can send the same content share one table.

/** A response with status and body; `cut`: the connection is reset after it. */
interface Sent {
  readonly status?: number;
  readonly body: string | Buffer;
  readonly cut?: true;
}

const MODELS = {
  chat: ["openai-compatible/m", (url: string) => ({ OPENAI_COMPATIBLE_BASE_URL: url })],
  "chat package": ["openai-compatible/m", (url: string) => ({ OPENAI_COMPATIBLE_BASE_URL: url })],
  groq: ["groq/m", (url: string) => ({ GROQ_API_KEY: "k", GROQ_BASE_URL: url })],
  deepseek: ["deepseek/m", (url: string) => ({ DEEPSEEK_API_KEY: "k", DEEPSEEK_BASE_URL: url })],
  mistral: ["mistral/m", (url: string) => ({ MISTRAL_API_KEY: "k", MISTRAL_BASE_URL: url })],
  openrouter: ["openrouter/m", (url: string) => ({ OPENROUTER_API_KEY: "k", OPENROUTER_BASE_URL: url })],
  messages: ["anthropic/claude-sonnet-4-5", (url: string) => ({ ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: url })],
  "messages package": [
    "anthropic/claude-sonnet-4-5",
    (url: string) => ({ ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: url }),
  ],
  responses: ["openai/gpt-5", (url: string) => ({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: url })],
  google: [
    "google/gemini-2.5-flash",
    (url: string) => ({ GOOGLE_GENERATIVE_AI_API_KEY: "k", GOOGLE_GENERATIVE_AI_BASE_URL: url }),
  ],
  bedrock: [
    "amazon-bedrock/amazon.nova-pro-v1:0",
    (url: string) => ({ AWS_REGION: "eu-west-1", AWS_BEARER_TOKEN_BEDROCK: "k", AMAZON_BEDROCK_BASE_URL: url }),
  ],
} as const satisfies Record<string, readonly [string, (url: string) => EnvironmentVariables]>;
type Way = keyof typeof MODELS;

const FRAMES = "application/vnd.amazon.eventstream";

/** A message of AWS's event streams. */
function frame(kind: "event" | "exception", type: string, data: object): Buffer {
  const header = (name: string, value: string) =>
    Buffer.concat([
      Buffer.from([name.length]),
      Buffer.from(name),
      Buffer.from([7, 0, value.length]),
      Buffer.from(value),
    ]);
  const headers = Buffer.concat([
    header(`:${kind}-type`, type),
    header(":content-type", "application/json"),
    header(":message-type", kind),
  ]);
  const payload = Buffer.from(JSON.stringify(data));
  const prelude = Buffer.alloc(8);
  prelude.writeUInt32BE(16 + headers.length + payload.length);
  prelude.writeUInt32BE(headers.length, 4);
  const sum = (bytes: Buffer) => {
    const four = Buffer.alloc(4);
    four.writeUInt32BE(crc32(bytes));
    return four;
  };
  const all = Buffer.concat([prelude, sum(prelude), headers, payload]);
  return Buffer.concat([all, sum(all)]);
}

/** Takes one or more turns of a model whose server sends these responses, repeating the last. */
async function turns(
  way: Way,
  sent: readonly Sent[],
  prompts = 1,
  more: { tools?: readonly Tool[]; textCalls?: boolean } = {},
) {
  let asked = 0;
  await using server = await serve((request, response) => {
    request.resume();
    const { status = 200, body, cut } = sent[asked++] ?? (sent.at(-1) as Sent);
    response.writeHead(status, {
      "content-type": status !== 200 ? "application/json" : way === "bedrock" ? FRAMES : "text/event-stream",
    });
    response.write(body);
    if (cut) setTimeout(() => response.destroy(), 20);
    else response.end();
  });
  const [name, environment] = MODELS[way];
  const textCalls = more.textCalls === undefined ? {} : { textCalls: more.textCalls };
  const overrides = { [name]: way.endsWith(" package") ? { driver: "package" as const } : textCalls };
  const model = await resolveModel(name, { env: environment(server.baseURL), overrides });
  const session = Session.inMemory();
  const feed: FeedItem[] = [];
  const watching = (async () => {
    for await (const item of session.feed()) feed.push(item);
  })();
  const agent = new Agent({
    model,
    tools: more.tools ?? [],
    retry: { delay: 1, maxDelay: 1, time: 10_000 },
    compaction: false,
  });
  let ended = await agent.send("Hello", { session }).catch((error: TurnError) => error.turn);
  for (let prompt = 1; prompt < prompts; prompt++)
    ended = await agent.send("Again", { session }).catch((error: TurnError) => error.turn);
  await session.close();
  await watching;
  return { ended, asked };
}

const json = (status: number, body: unknown): Sent => ({ status, body: JSON.stringify(body) });
const named = (type: string, data: object) => `event: ${type}\n${eventOf({ type, ...data })}`;
const chat = (...events: readonly (object | string)[]) => ({ body: events.map(eventOf).join("") });
const done = chat(chunk({ content: "Done." }), chunk({}, "stop"), "[DONE]");
const messageStart = (usage: object = {}) =>
  named("message_start", {
    message: {
      id: "m",
      type: "message",
      role: "assistant",
      model: "c",
      content: [],
      usage: { input_tokens: 1, output_tokens: 1, ...usage },
    },
  });
const block = (start: object, ...deltas: readonly object[]) =>
  named("content_block_start", { index: 0, content_block: start }) +
  deltas.map((delta) => named("content_block_delta", { index: 0, delta })).join("") +
  named("content_block_stop", { index: 0 });
const text = (words: string) => block({ type: "text", text: "" }, { type: "text_delta", text: words });
const stopped = (reason: string, usage: object = { output_tokens: 3 }) =>
  named("message_delta", { delta: { stop_reason: reason, stop_sequence: null }, usage });
const messageStop = named("message_stop", {});
const messages = (...events: readonly string[]): Sent => ({ body: events.join("") });
const gemini = (words: string, more: object = {}) =>
  eventOf({ candidates: [{ content: { role: "model", parts: [{ text: words }] }, ...more }] });

const CHAT_WAYS = ["chat", "chat package", "groq", "deepseek", "mistral"] as const;

describe("F52: the reason to finish", () => {
  test.each(CHAT_WAYS)(
    "zai-network-error, at %s: asked again, and never half an answer as a whole one",
    async (way) => {
      const half = chat(chunk({ content: "Half an" }), chunk({}, "network_error"), "[DONE]");
      const { ended, asked } = await turns(way, [half, done]);
      expect(ended).toMatchObject({ reason: "answered", text: "Done." });
      expect(asked).toBe(2);
    },
  );

  test.each(CHAT_WAYS)("zai-window-exceeded, at %s: the answer was cut at its length", async (way) => {
    const cut = chat(chunk({ content: "Some" }), chunk({}, "model_context_window_exceeded"), "[DONE]");
    const { ended, asked } = await turns(way, [cut]);
    expect(ended).toMatchObject({ text: "Some", message: { finish: "length" } });
    expect(asked).toBe(1);
  });

  const odd: readonly (readonly [Way, (reason: string) => Sent])[] = [
    ...CHAT_WAYS.map(
      (way) => [way, (reason: string) => chat(chunk({ content: "Half" }), chunk({}, reason), "[DONE]")] as const,
    ),
    ["messages", (reason) => messages(messageStart(), text("Half"), stopped(reason), messageStop)],
    ["messages package", (reason) => messages(messageStart(), text("Half"), stopped(reason), messageStop)],
    ["google", (reason) => ({ body: gemini("Half", { finishReason: reason.toUpperCase() }) })],
  ];
  test.each(odd)(
    "a reason that is not known, at %s: asked once more, told by its name, and remembered",
    async (way, send) => {
      const reason = `odd_${way.replace(" ", "_")}`;
      const { ended, asked } = await turns(way, [send(reason)]);
      expect(ended).toMatchObject({ reason: "failed", text: "Half", error: { code: "provider" } });
      expect(ended.error?.message.toLowerCase()).toContain(`("${reason}")`);
      expect(asked).toBe(2);
      expect((await turns(way, [send(reason)], 2)).asked).toBe(2);
    },
  );
});

describe("F53: an answer with its reason to finish is whole, whatever the connection does", () => {
  const whole: readonly (readonly [Way, string])[] = [
    ...CHAT_WAYS.map((way) => [way, eventOf(chunk({ content: "Yes." }, "stop"))] as const),
    ["messages", messageStart() + text("Yes.") + stopped("end_turn")],
    ["messages package", messageStart() + text("Yes.") + stopped("end_turn")],
    ["google", gemini("Yes.", { finishReason: "STOP" })],
  ];
  test.each(whole)("anthropic-no-message-stop and its like, at %s: a clean end, and a reset", async (way, body) => {
    for (const sent of [{ body }, { body, cut: true as const }]) {
      const { ended, asked } = await turns(way, [sent]);
      expect(ended).toMatchObject({ reason: "answered", text: "Yes.", message: { finish: "stop" } });
      expect(asked).toBe(1);
    }
  });
});

describe("F54, F65: messages", () => {
  test("anthropic-start-text: content in the start of a block counts, with its signature", async () => {
    const thinking =
      named("content_block_start", {
        index: 0,
        content_block: { type: "thinking", thinking: "Hm", signature: "s1" },
      }) + named("content_block_stop", { index: 0 });
    const body = messageStart() + thinking + block({ type: "text", text: "Do" }, { type: "text_delta", text: "ne." });
    const { ended } = await turns("messages", [messages(body, stopped("end_turn"), messageStop)]);
    expect(ended.message?.parts).toEqual([
      { type: "reasoning", text: "Hm", provider: { anthropic: { signature: "s1" } } },
      { type: "text", text: "Done." },
    ]);
  });

  test("usage-zero-at-end: a 0 at the end does not overwrite a count", async () => {
    const end = stopped("end_turn", { input_tokens: 0, output_tokens: 10 });
    const { ended } = await turns("messages", [
      messages(messageStart({ input_tokens: 1000 }), text("Yes."), end, messageStop),
    ]);
    expect(ended.message).toMatchObject({ usage: { input: 1000, output: 10 } });
    const counts = (prompt_tokens: number, completion_tokens: number) => ({
      ...chunk({}),
      choices: [],
      usage: { prompt_tokens, completion_tokens },
    });
    const { ended: other } = await turns("chat", [
      chat(chunk({ content: "Yes." }), counts(1000, 4), chunk({}, "stop"), counts(0, 10), "[DONE]"),
    ]);
    expect(other.message).toMatchObject({ usage: { input: 1000, output: 10 } });
  });
});

describe("F55: errors where servers put them", () => {
  test.each(["chat", "chat package"] as const)(
    "llamacpp-error-field, at %s: the field `error:` of a stream",
    async (way) => {
      const body =
        'error: {"code":400,"message":"the request exceeds the available context size, try increasing it","type":"invalid_request_error"}\n\ndata: [DONE]\n\n';
      const { ended, asked } = await turns(way, [{ body }]);
      expect(ended).toMatchObject({ reason: "failed", error: { code: "context-overflow" } });
      expect(asked).toBe(1);
    },
  );

  test("responses-failed-quota: at once behind the beginning of the answer", async () => {
    const body =
      eventOf({ type: "response.created", response: { id: "r", created_at: 1, model: "gpt-5" } }) +
      eventOf({
        type: "response.failed",
        sequence_number: 2,
        response: { error: { code: "insufficient_quota", message: "You exceeded your current quota." } },
      });
    const { ended, asked } = await turns("responses", [{ body }]);
    expect(ended.error).toMatchObject({
      code: "quota",
      message: expect.stringContaining("You exceeded your current quota"),
    });
    expect(asked).toBe(1);
  });

  test("or-raw-overflow: the words of the provider behind OpenRouter", async () => {
    const raw = '{"type":"error","error":{"message":"prompt is too long: 213462 tokens > 200000 maximum"}}';
    const sent = json(400, { error: { message: "Provider returned error", code: 400, metadata: { raw } } });
    const { ended, asked } = await turns("openrouter", [sent]);
    expect(ended).toMatchObject({ error: { code: "context-overflow", message: expect.stringContaining("213462") } });
    expect(asked).toBe(1);
  });
});

describe("F60, F61, F62: what is asked again, and what is not", () => {
  test.each(["groq", "chat"] as const)("groq-tool-use-failed, at %s: the second answer is the turn's", async (way) => {
    const failed = json(400, {
      error: { code: "tool_use_failed", message: "Failed to call a function.", failed_generation: "<function=read>" },
    });
    expect((await turns(way, [failed, done])).ended).toMatchObject({ reason: "answered", text: "Done." });
    const { ended, asked } = await turns(way, [failed]);
    expect(ended).toMatchObject({ reason: "failed", error: { code: "provider" } });
    expect(asked).toBe(4);
  });

  test("bedrock-midway-model-error: asked again", async () => {
    const said = (text: string) => frame("event", "contentBlockDelta", { contentBlockIndex: 0, delta: { text } });
    const broken = Buffer.concat([said("Half"), frame("exception", "modelStreamErrorException", { message: "Oops" })]);
    const whole = Buffer.concat([
      said("Done."),
      frame("event", "contentBlockStop", { contentBlockIndex: 0 }),
      frame("event", "messageStop", { stopReason: "end_turn" }),
    ]);
    const { ended, asked } = await turns("bedrock", [{ body: broken }, { body: whole }]);
    expect(ended).toMatchObject({ reason: "answered", text: "Done." });
    expect(asked).toBe(2);
    // The usage follows the end: without it the answer is whole all the same (F53).
    expect((await turns("bedrock", [{ body: whole, cut: true }])).asked).toBe(1);
    expect((await turns("bedrock", [{ body: broken }])).ended.error?.message).toContain("Oops");
  });

  test("usage-limit-resets: asked once, and the message says when it ends", async () => {
    const error = {
      type: "usage_limit_reached",
      message: "The usage limit has been reached",
      resets_in_seconds: 529_498,
    };
    const { ended, asked } = await turns("chat", [json(429, { error })]);
    expect(ended.error?.message).toContain("it has room again in 6 d 3 h");
    expect(asked).toBe(1);
  });

  test("gemini-per-day: asked once", async () => {
    const details = [
      { "@type": "type.googleapis.com/google.rpc.ErrorInfo", metadata: { quota_limit: "Gemini25ProRequestsPerDay" } },
    ];
    const sent = json(429, { error: { code: 429, status: "RESOURCE_EXHAUSTED", message: "Quota exceeded", details } });
    const { ended, asked } = await turns("google", [sent]);
    expect(ended.error).toMatchObject({ code: "quota" });
    expect(asked).toBe(1);
  });

  test.each(["chat", "responses"] as const)(
    "azure-filter-400, at %s: told as a filter, without advice about settings",
    async (way) => {
      const sent = json(400, {
        error: {
          code: "content_filter",
          message: "The response was filtered due to the prompt triggering Azure's content management policy.",
          innererror: { code: "ResponsibleAIPolicyViolation" },
        },
      });
      const { ended, asked } = await turns(way, [sent]);
      expect(ended).toMatchObject({ reason: "answered", message: { finish: "filtered" } });
      expect(ended.message?.error).toMatch(
        /^The content filter of .* refused the request \(400: The response was filtered/,
      );
      expect(ended.message?.error).not.toContain("settings");
      expect(asked).toBe(1);
    },
  );
});

describe("F58: reasoning in the content", () => {
  test.each(CHAT_WAYS)("think-tags, at %s", async (way) => {
    const pieces = ["<think>\nThe person wants", " a capital.\n</thi", "nk>\n\n", "Paris."];
    const { ended } = await turns(way, [
      chat(...pieces.map((content) => chunk({ content })), chunk({}, "stop"), "[DONE]"),
    ]);
    expect(ended).toMatchObject({ reason: "answered", text: "Paris." });
    expect(ended.message?.parts).toMatchObject([
      { type: "reasoning", text: "The person wants a capital.\n" },
      { type: "text", text: "Paris." },
    ]);
  });

  test("where the tags are the format's own text, they stay", async () => {
    const { ended } = await turns("messages", [
      messages(messageStart(), text("<think>a</think>b"), stopped("end_turn"), messageStop),
    ]);
    expect(ended.text).toBe("<think>a</think>b");
  });
});

describe("F70: calls that are written as text", () => {
  const seen: unknown[] = [];
  const read = defineTool({
    name: "read",
    description: "Reads a file.",
    input: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    effects: "none",
    execute: (input: unknown) => {
      seen.push(input);
      return "acorns";
    },
  });
  const written = '<tool_call>\n{"name": "read", "arguments": {"path": "a.txt"}}\n</tool_call>';
  const calling = chat(
    chunk({ content: "I look.\n" }),
    chunk({ content: written.slice(0, 9) }),
    chunk({ content: written.slice(9) }),
    chunk({}, "stop"),
    "[DONE]",
  );

  test("run, and the text before them stays", async () => {
    seen.length = 0;
    const { ended, asked } = await turns("chat", [calling, done], 1, { tools: [read] });
    expect(seen).toEqual([{ path: "a.txt" }]);
    expect(ended).toMatchObject({ reason: "answered", text: "Done." });
    expect(asked).toBe(2);
  });

  test("stay text without tools, where `textCalls` is off, and beside a call of the format", async () => {
    seen.length = 0;
    expect((await turns("chat", [calling])).ended.text).toBe(`I look.\n${written}`);
    expect((await turns("chat", [calling], 1, { tools: [read], textCalls: false })).ended.text).toBe(
      `I look.\n${written}`,
    );
    expect(seen).toEqual([]);
    const call = chunk({
      tool_calls: [{ index: 0, id: "c", function: { name: "read", arguments: '{"path":"b.txt"}' } }],
    });
    await turns("chat", [chat(chunk({ content: written }), call, chunk({}, "tool_calls"), "[DONE]"), done], 1, {
      tools: [read],
    });
    expect(seen).toEqual([{ path: "b.txt" }]);
  });

  test("cut off by the limit of the length do not run", async () => {
    seen.length = 0;
    const { ended } = await turns(
      "chat",
      [chat(chunk({ content: written.slice(0, 30) }), chunk({}, "length"), "[DONE]")],
      1,
      { tools: [read] },
    );
    expect(ended).toMatchObject({ text: written.slice(0, 30), message: { finish: "length" } });
    expect(seen).toEqual([]);
  });
});

describe("F67: chunks without choices", () => {
  test.each(CHAT_WAYS)("are passed over, at %s", async (way) => {
    const empty = [
      { ...chunk({}), choices: [] },
      { ...chunk({}), choices: null },
    ];
    const { ended, asked } = await turns(way, [
      chat(...empty, chunk({ content: "Do" }), ...empty, chunk({ content: "ne." }, "stop"), ...empty, "[DONE]"),
    ]);
    expect(ended).toMatchObject({ reason: "answered", text: "Done." });
    expect(asked).toBe(1);
  });

  test.each(CHAT_WAYS)("a chunk of another shape is told without words of code, at %s", async (way) => {
    const { ended } = await turns(way, [
      chat({ ...chunk({}), choices: [{ index: 0, delta: { tool_calls: [null, 7] } }] }, { choices: 7 }),
    ]);
    expect(ended.reason).toBe("failed");
    expect(ended.error?.message).not.toMatch(/undefined|Cannot read|invalid_type|\[\s*\{|TypeError/);
  });
});

describe("F71: streams that proxies dress up", () => {
  const dressed: readonly (readonly [Way, string])[] = [
    ...CHAT_WAYS.map((way) => [way, done.body] as const),
    ["messages", messageStart() + text("Done.") + stopped("end_turn") + messageStop],
    ["messages package", messageStart() + text("Done.") + stopped("end_turn") + messageStop],
    ["google", gemini("Done.", { finishReason: "STOP" })],
  ];
  test.each(dressed)("comments, `retry:`, `id:` and `event: done` change nothing, at %s", async (way, body) => {
    const begin = ": OPENROUTER PROCESSING\n\nretry: 3000\n\nid: 7\n\n:\n\nevent: ping\n\n";
    const { ended, asked } = await turns(way, [{ body: `${begin}${body}id: 8\n\nevent: done\n\n` }]);
    expect(ended).toMatchObject({ reason: "answered", text: "Done." });
    expect(textOf(ended.message as NonNullable<typeof ended.message>)).toBe("Done.");
    expect(asked).toBe(1);
  });
});
