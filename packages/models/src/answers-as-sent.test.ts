import { crc32 } from "node:zlib";
import { describe, expect, test } from "vitest";
import {
  block,
  chat,
  gemini,
  json,
  messageStart,
  messages,
  named,
  type Sent,
  text,
  turns,
  type Way,
} from "./answers-as-sent.fixture.ts";
import { chunk, eventOf } from "./testing/server.ts";

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

const done = chat(chunk({ content: "Done." }), chunk({}, "stop"), "[DONE]");

const stopped = (reason: string, usage: object = { output_tokens: 3 }) =>
  named("message_delta", { delta: { stop_reason: reason, stop_sequence: null }, usage });

const messageStop = named("message_stop", {});

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
    ...(["google", "google package"] as const).map(
      (way) => [way, (reason: string) => ({ body: gemini("Half", { finishReason: reason.toUpperCase() }) })] as const,
    ),
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

describe("F53: an answer with its finish reason is complete, whatever the connection does", () => {
  const whole: readonly (readonly [Way, string])[] = [
    ...CHAT_WAYS.map((way) => [way, eventOf(chunk({ content: "Yes." }, "stop"))] as const),
    ["messages", messageStart() + text("Yes.") + stopped("end_turn")],
    ["messages package", messageStart() + text("Yes.") + stopped("end_turn")],
    ["google", gemini("Yes.", { finishReason: "STOP" })],
    ["google package", gemini("Yes.", { finishReason: "STOP" })],
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

  test.each(["responses", "responses package"] as const)("responses-failed-quota, at %s: at once", async (way) => {
    const body =
      eventOf({ type: "response.created", response: { id: "r", created_at: 1, model: "gpt-5" } }) +
      eventOf({
        type: "response.failed",
        sequence_number: 2,
        response: { error: { code: "insufficient_quota", message: "You exceeded your current quota." } },
      });
    const { ended, asked } = await turns(way, [{ body }]);
    expect(ended.error).toMatchObject({
      code: "quota",
      message: expect.stringContaining("You exceeded your current quota"),
    });
    expect(asked).toBe(1);
  });

  test("or-raw-overflow: the error has the words of the provider behind OpenRouter", async () => {
    const raw = '{"type":"error","error":{"message":"prompt is too long: 213462 tokens > 200000 maximum"}}';
    const sent = json(400, { error: { message: "Provider returned error", code: 400, metadata: { raw } } });
    const { ended, asked } = await turns("openrouter", [sent]);
    expect(ended).toMatchObject({ error: { code: "context-overflow", message: expect.stringContaining("213462") } });
    expect(asked).toBe(1);
  });
});

describe("F60, F61, F62: retried errors, and errors that are not retried", () => {
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

  test("usage-limit-resets: the model is asked once, and the message names the end of the limit", async () => {
    const error = {
      type: "usage_limit_reached",
      message: "The usage limit has been reached",
      resets_in_seconds: 529_498,
    };
    const { ended, asked } = await turns("chat", [json(429, { error })]);
    expect(ended.error?.message).toContain("it has room again in 6 d 3 h");
    expect(asked).toBe(1);
  });

  test.each(["google", "google package"] as const)("gemini-per-day, at %s: asked once", async (way) => {
    const details = [
      { "@type": "type.googleapis.com/google.rpc.ErrorInfo", metadata: { quota_limit: "Gemini25ProRequestsPerDay" } },
    ];
    const sent = json(429, { error: { code: 429, status: "RESOURCE_EXHAUSTED", message: "Quota exceeded", details } });
    const { ended, asked } = await turns(way, [sent]);
    expect(ended.error).toMatchObject({ code: "quota" });
    expect(asked).toBe(1);
  });

  test.each(["chat", "responses", "responses package"] as const)(
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
