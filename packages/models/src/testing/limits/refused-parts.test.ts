import { Agent, defineTool, type FeedItem, Session, say } from "@banyan/core";
import type { ModelRequest, PromptMessage } from "@banyan/core/drivers";
import { describe, expect, test } from "vitest";
import { user } from "../../families/request.fixture.ts";
import { resolveModel } from "../../resolve.ts";
import { bodyOf, chunk, eventOf, serve, streamed } from "../server.ts";
import { answerOf } from "../sink.ts";
import { picture, png, random } from "./odd-conversation.fixture.ts";

/** A server that refuses requests while `refuses` finds a part in them. Returns the requests. */
async function refusing(
  refuses: (body: string) => [status: number, body: object] | undefined,
  name: string,
  key: string,
) {
  const asked: string[] = [];
  const server = await serve(async (request, reply) => {
    const body = await bodyOf(request);
    asked.push(body);
    const refusal = refuses(body);
    if (refusal) reply.writeHead(refusal[0], { "content-type": "application/json" }).end(JSON.stringify(refusal[1]));
    else if (name.startsWith("anthropic")) {
      const events = [
        {
          type: "message_start",
          message: {
            type: "message",
            role: "assistant",
            id: "m",
            model: "m",
            content: [],
            usage: { input_tokens: 1, output_tokens: 1 },
          },
        },
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "ok" } },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } },
        { type: "message_stop" },
      ];
      reply.writeHead(200, { "content-type": "text/event-stream" });
      reply.end(events.map((one) => `event: ${one.type}\n${eventOf(one)}`).join(""));
    } else streamed(reply, chunk({ content: "ok" }), chunk({}, "stop"), "[DONE]");
  });
  const address = name.startsWith("anthropic") ? server.baseURL.replace(/\/v1$/, "") : server.baseURL;
  const model = await resolveModel(name, { env: { [`${key}_BASE_URL`]: address, [`${key}_API_KEY`]: "k" } });
  return { asked, model, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

const ask = (messages: readonly PromptMessage[], settings: ModelRequest["settings"] = {}): ModelRequest => ({
  instructions: "",
  messages,
  tools: [],
  toolChoice: "auto",
  settings,
});
const signed = (provider: string): PromptMessage => ({
  role: "assistant",
  parts: [
    { type: "reasoning", text: "Hm.", provider: { [provider]: { signature: "c2ln" } } },
    { type: "text", text: "Yes." },
  ],
  results: [],
});

describe("a refusal that names a part costs one more request:", () => {
  test("F48: signature-refused: reasoning is left out, then and later", async () => {
    const error = {
      type: "error",
      error: {
        type: "invalid_request_error",
        message: "messages.1.content.0: Invalid `signature` in `thinking` block",
      },
    };
    await using at = await refusing(
      (body) => (body.includes('"thinking"') ? [400, error] : undefined),
      "anthropic/claude-sonnet-4-5",
      "ANTHROPIC",
    );
    const thought = signed("anthropic");
    const parts = await answerOf(at.model, ask([user("a"), thought, user("b")]));
    expect(parts[0]).toEqual({
      type: "note",
      text: "The provider refused the reasoning of earlier responses. Requests omit this reasoning from now on.",
    });
    expect(parts.some((part) => part.type === "text" && part.text === "ok")).toBe(true);
    expect(at.asked).toHaveLength(2);
    await answerOf(at.model, ask([user("a"), thought, user("b"), user("c")]));
    expect(at.asked).toHaveLength(3);
    // Later reasoning is sent back: it belongs to the current key.
    await answerOf(at.model, ask([user("a"), thought, user("b"), signed("anthropic"), user("c")])).catch(() => {});
    expect(at.asked[3]).toContain("Hm.");
  });

  test.each([
    ["The encrypted content gAAA could not be verified.", "invalid_encrypted_content"],
    ["Item 'rs_1' of type 'reasoning' was provided without its required following item.", null],
    ["Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.", null],
    ["Reasoning input items can only be provided to a reasoning or computer-use model. Remove them.", null],
    ["Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.", null],
  ])("F48: encrypted-refused: the same at OpenAI: %s", async (message, code) => {
    const error = { error: { message, type: "invalid_request_error", code } };
    const requests: string[] = [];
    await using server = await serve(async (request, reply) => {
      const body = await bodyOf(request);
      requests.push(body);
      if (body.includes('"reasoning"'))
        return reply.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify(error));
      return streamed(
        reply,
        { type: "response.created", response: { id: "r", created_at: 1, model: "gpt-5.4" } },
        { type: "response.output_item.added", output_index: 0, item: { type: "message", id: "m1" } },
        { type: "response.output_text.delta", item_id: "m1", delta: "ok" },
        { type: "response.output_item.done", output_index: 0, item: { type: "message", id: "m1" } },
        { type: "response.completed", response: { usage: { input_tokens: 1, output_tokens: 1 } } },
      );
    });
    const model = await resolveModel("openai/gpt-5.4", {
      env: { OPENAI_API_KEY: "k", OPENAI_BASE_URL: server.baseURL },
    });
    const thought = signed("x");
    const own = { openai: { itemId: "rs_1", reasoningEncryptedContent: "gAAA" } };
    const [reasoning, text] = thought.parts;
    const kept = { ...thought, parts: [{ ...reasoning, provider: own }, text] } as PromptMessage;
    const parts = await answerOf(model, ask([user("a"), kept, user("b")]));
    expect(requests.map((body) => body.includes("gAAA"))).toEqual([true, false]);
    expect(parts.some((part) => part.type === "text" && part.text === "ok")).toBe(true);
  });

  test("F47: picture-refused: later requests leave out the new picture, and the model learns so", async () => {
    const error = { type: "error", error: { type: "invalid_request_error", message: "Could not process image" } };
    const bad = picture(11, 11, "bad.png");
    await using at = await refusing(
      (body) => (body.includes(bad.data) ? [400, error] : undefined),
      "anthropic/claude-sonnet-4-5",
      "ANTHROPIC",
    );
    const good: PromptMessage = { role: "user", parts: [picture(10, 10, "good.png")] };
    await answerOf(at.model, ask([good]));
    const parts = await answerOf(at.model, ask([good, { role: "user", parts: [bad] }]));
    expect(parts[0]).toEqual({
      type: "note",
      text: "The provider refused bad.png. Requests omit this content from now on.",
    });
    await answerOf(at.model, ask([good, { role: "user", parts: [bad] }, user("hi")]));
    expect(at.asked).toHaveLength(4);
    expect(at.asked[3]).toContain("[bad.png (image/png) is not shown to you: the provider refused it.]");
    expect(at.asked[3]).toContain(png(10, 10));
  });

  test.each([
    [
      "stream_options",
      {
        message: {
          detail: [{ type: "extra_forbidden", loc: ["body", "stream_options"], msg: "Extra inputs are not permitted" }],
        },
      },
      {},
    ],
    [
      "temperature",
      {
        error: {
          message: "Unsupported parameter: 'temperature' is not supported with this model.",
          param: "temperature",
        },
      },
      { temperature: 0.5 },
    ],
    [
      "reasoning_effort",
      { error: { message: "Unrecognized request argument supplied: reasoning_effort" } },
      { effort: "low" as const },
    ],
    ["seed", { error: "unknown field `seed`" }, { providerOptions: { "openai-compatible": { seed: 7 } } }],
  ])("F85: %s is left out for this address from then on", async (parameter, error, settings) => {
    await using at = await refusing(
      (body) => (body.includes(`"${parameter}"`) ? [422, error] : undefined),
      "openai-compatible/m",
      "OPENAI_COMPATIBLE",
    );
    const parts = await answerOf(at.model, ask([user("a")], settings));
    expect(parts[0]).toEqual({
      type: "note",
      text: `The provider does not accept ${parameter}. Requests omit this parameter from now on.`,
    });
    expect(at.asked).toHaveLength(2);
    await answerOf(at.model, ask([user("b")], { ...settings }));
    expect(at.asked).toHaveLength(3);
  });

  test("F48, F85: a part that is refused twice causes no third request", async () => {
    const error = { error: { message: "Unsupported parameter: stream_options" } };
    await using at = await refusing(() => [400, error], "openai-compatible/m", "OPENAI_COMPATIBLE");
    await expect(answerOf(at.model, ask([user("a")]))).rejects.toThrow("stream_options");
    expect(at.asked).toHaveLength(2);
  });

  test("F47, F48, F85: 200 refusals that name no part cost one request each", async () => {
    const next = random(4);
    const words = [
      "invalid",
      "request",
      "temperature must be at most 2",
      "messages",
      "is required",
      "tool",
      "not",
      "bad",
      "image of a bug",
      "signature",
      "max",
      "schema",
      "role",
      "value",
      "unknown reason",
      "expected a string",
    ];
    const error = () => ({
      error: {
        message: Array.from(
          { length: 1 + Math.floor(next() * 6) },
          () => words[Math.floor(next() * words.length)],
        ).join(" "),
      },
    });
    const bodies = Array.from({ length: 200 }, error);
    let count = 0;
    await using at = await refusing(
      () => [next() < 0.5 ? 400 : 422, bodies[count++] ?? {}],
      "openai-compatible/m",
      "OPENAI_COMPATIBLE",
    );
    const request = ask([user("a"), user("b")], { temperature: 3, effort: "low" });
    for (const _ of bodies) await answerOf(at.model, request).catch(() => {});
    expect(at.asked).toHaveLength(200);
  });

  test("F85: the user gets one notice, and the turn continues", async () => {
    const error = { error: { message: "Unsupported parameter: stream_options" } };
    await using at = await refusing(
      (body) => (body.includes("stream_options") ? [400, error] : undefined),
      "openai-compatible/m",
      "OPENAI_COMPATIBLE",
    );
    const session = Session.inMemory();
    const tools = [
      defineTool({
        name: "look",
        description: "Looks.",
        input: { type: "object" },
        effects: "none",
        execute: () => "seen",
      }),
    ];
    const agent = new Agent({ model: at.model, tools });
    const told: FeedItem[] = [];
    for (const text of ["a", "b"])
      for await (const item of agent.chat(say(text), { session })) if (item.type === "request.changed") told.push(item);
    expect(told).toMatchObject([
      {
        type: "request.changed",
        reason: "The provider does not accept stream_options. Requests omit this parameter from now on.",
      },
    ]);
    expect(at.asked).toHaveLength(3);
  });
});
