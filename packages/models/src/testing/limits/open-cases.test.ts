import type { ModelRequest, PromptMessage, ToolSchema } from "@banyan/core/drivers";
import { describe, expect, test } from "vitest";
import { bodiesOf, look, user } from "../../families/request.fixture.ts";
import { resolveModel } from "../../resolve.ts";
import { bodyOf, chunk, eventOf, serve, streamed } from "../server.ts";
import { answerOf, KeepingSink } from "../sink.ts";
import { violations } from "./limits.ts";
import { picture } from "./odd-conversation.fixture.ts";

const AT = {
  anthropic: ["anthropic/claude-sonnet-4-5", (url: string) => ({ ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: url })],
  openai: ["openai/gpt-5.4", (url: string) => ({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: url })],
  "openai-chat": ["openai-chat/gpt-5.4", (url: string) => ({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: `${url}/v1` })],
  "openai-compatible": ["openai-compatible/devstral", (url: string) => ({ OPENAI_COMPATIBLE_BASE_URL: `${url}/v1` })],
} as const;

const response = (
  tool: string,
  id = "call_1",
  more: Partial<Extract<PromptMessage, { role: "assistant" }>> = {},
): PromptMessage => ({
  role: "assistant",
  parts: [{ type: "call", id, tool, input: {} }],
  results: [{ call: id, tool, output: "seen", failed: false }],
  ...more,
});

const tool = (input: object, name = "find"): ToolSchema => ({
  name,
  description: "Finds.",
  input: input as ToolSchema["input"],
});
const LONG = `call_${"x".repeat(81)}`;
const WITH_BRANCHES = {
  type: "object",
  properties: { id: { type: "string" } },
  anyOf: [{ required: ["id"] }, { properties: { name: { type: "string" } }, required: ["name"] }],
};
const ODD_KEYS = {
  type: "object",
  properties: { "StartTime<": { type: "string" }, "ids[]": { type: "array", items: {} } },
  required: ["ids[]"],
};

describe("open cases of repeated content:", () => {
  test.each<
    [row: string, name: string, at: keyof typeof AT, request: Partial<ModelRequest>, holds: RegExp, lacks?: RegExp]
  >([
    [
      "F44",
      "white-text",
      "anthropic",
      {
        messages: [
          user("a"),
          response("look", "c1", {
            parts: [
              { type: "text", text: "\n\n" },
              { type: "call", id: "c1", tool: "look", input: {} },
            ],
          }),
          user("b"),
        ],
      },
      /"content":\[\{"type":"tool_use","id":"c1"/,
      /\\n\\n/,
    ],
    [
      "F45",
      "bad-name",
      "openai-chat",
      { messages: [user("a"), response("read<|channel|>json"), user("b")] },
      /"name":"read_channel_json_\w{9}"/,
    ],
    [
      "F45",
      "bad-name-anthropic",
      "anthropic",
      { messages: [user("a"), response("read<|channel|>json"), user("b")] },
      /"name":"read_channel_json_\w{9}"/,
    ],
    [
      "F45",
      "bad-name-moved",
      "anthropic",
      { messages: [user("a"), response("read file"), user("b")] },
      /"name":"read_file_\w{9}"/,
    ],
    [
      "F56",
      "id-long",
      "openai",
      { messages: [user("a"), response("look", LONG), user("b")] },
      /"call_id":"(\w{9})".*"call_id":"\1"/,
      /x{9}/,
    ],
    [
      "F56",
      "id-long-chat",
      "openai-chat",
      { messages: [user("a"), response("look", LONG), user("b")] },
      /"id":"(\w{9})".*"tool_call_id":"\1"/,
      /x{9}/,
    ],
    [
      "F66",
      "user-after-tool",
      "openai-compatible",
      { messages: [user("a"), response("look"), user("b")] },
      /"role":"tool".*"role":"assistant".*"role":"user"/,
    ],
    [
      "F46",
      "half-model",
      "openai-chat",
      {
        messages: [
          user("a"),
          { role: "assistant", parts: [{ type: "text", text: "abc \ud83d" }], results: [] },
          user("b"),
        ],
      },
      /abc \ufffd/,
    ],
    [
      "F46",
      "half-in-result",
      "anthropic",
      {
        messages: [
          user("a"),
          response("look", "c1", { results: [{ call: "c1", tool: "look", output: "cut here \ud83d", failed: false }] }),
          user("b"),
        ],
      },
      /cut here \ufffd/,
    ],
    [
      "F49",
      "top-any-of",
      "anthropic",
      { messages: [user("a")], tools: [tool(WITH_BRANCHES)] },
      /at least one of these JSON Schemas.*"name":\{"type":"string"\}/,
    ],
    [
      "F49",
      "top-any-of-openai",
      "openai",
      { messages: [user("a")], tools: [tool(WITH_BRANCHES)] },
      /at least one of these JSON Schemas.*"name":\{"type":"string"\}/,
    ],
    [
      "F49",
      "odd-keys",
      "anthropic",
      { messages: [user("a")], tools: [tool(ODD_KEYS)] },
      /"StartTime__\w{9}".*"required":\["ids__\w{9}"\]/,
      /ids\[\]/,
    ],
    [
      "F47",
      "picture-8000",
      "anthropic",
      {
        messages: [
          user("a"),
          response("read", "c1", {
            results: [{ call: "c1", tool: "read", output: "A picture.", failed: false, files: [picture(9000, 10)] }],
          }),
          user("b"),
        ],
      },
      /\[a\.png \(image\/png\) is not shown to you: it has 9000 × 10 pixels, and the provider takes 8000 per side\.\]/,
      /"type":"image"/,
    ],
  ])("%s: %s", async (_row, _case, at, request, holds, lacks) => {
    const [name, env] = AT[at];
    const [body] = await bodiesOf(name, (url) => env(url), { tools: [look], ...request });
    expect(violations(at, body)).toEqual([]);
    expect(JSON.stringify(body)).toMatch(holds);
    if (lacks) expect(JSON.stringify(body)).not.toMatch(lacks);
  });

  test("F49: arguments under changed names of properties get the schema's names again", async () => {
    const [name, env] = AT.anthropic;
    const requests: string[] = [];
    await using server = await serve(async (request, reply) => {
      const body = await bodyOf(request);
      requests.push(body);
      const [shown] = /ids__\w{9}/.exec(body) ?? [];
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
        {
          type: "content_block_start",
          index: 0,
          content_block: { type: "tool_use", id: "c1", name: "find", input: {} },
        },
        ...[`{"${shown?.slice(0, 4)}`, `${shown?.slice(4)}":["x"]}`].map((partial_json) => ({
          type: "content_block_delta",
          index: 0,
          delta: { type: "input_json_delta", partial_json },
        })),
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 2 } },
        { type: "message_stop" },
      ];
      reply.writeHead(200, { "content-type": "text/event-stream" });
      reply.end(events.map((one) => `event: ${one.type}\n${eventOf(one)}`).join(""));
    });
    const model = await resolveModel(name, { env: env(server.baseURL.replace(/\/v1$/, "")) });
    const request = {
      instructions: "",
      messages: [user("a")],
      tools: [tool(ODD_KEYS)],
      toolChoice: "auto",
      settings: {},
    } as const;
    const parts = await answerOf(model, request);
    expect(parts.filter(({ type }) => type === "call-input")).toEqual([
      { type: "call-input", index: 0, text: '{"ids[]":["x"]}' },
    ]);
    // The next request shows the call with the names that the model knows.
    const called = {
      ...response("find", "c1"),
      parts: [{ type: "call", id: "c1", tool: "find", input: { "ids[]": ["x"] } }],
    } as PromptMessage;
    await answerOf(model, { ...request, messages: [user("a"), called, user("b")] });
    expect(requests[1]).toMatch(/"input":\{"ids__\w{9}":\["x"\]\}/);
  });

  test("F49: a tool whose schema accepts no object is left out alone, with a note", async () => {
    const sink = new KeepingSink();
    await using server = await serve((_, reply) => streamed(reply, chunk({ content: "ok" }, "stop"), "[DONE]"));
    const model = await resolveModel("openai-compatible/m", { env: { OPENAI_COMPATIBLE_BASE_URL: server.baseURL } });
    const tools = [tool({ type: "array" }, "broken"), look];
    await model.stream(
      { instructions: "", messages: [user("a")], tools, toolChoice: "auto", settings: {} },
      sink,
      new AbortController().signal,
    );
    expect(sink.parts[0]).toEqual({
      type: "note",
      text: "The tool broken is left out: the provider cannot take its schema.",
    });
  });

  test("F49: if there are too many tools for the provider, the tools before the last eight are left out", async () => {
    const tools = Array.from({ length: 217 }, (_, index) => ({ ...look, name: `tool_${index}` }));
    const [name, env] = AT.openai;
    const [body] = await bodiesOf(name, env, { messages: [user("a")], tools });
    const names = ((body?.tools ?? []) as readonly { name: string }[]).map((one) => one.name);
    expect([names.length, names[0], names[119], names[120], names[127]]).toEqual([
      128,
      "tool_0",
      "tool_119",
      "tool_209",
      "tool_216",
    ]);
    expect((await resolveModel(name, { env: env("http://127.0.0.1:9") })).maxTools).toBe(128);
  });

  test("F66: Kimi and DeepSeek get reasoning with each call at any server, also of another model", async () => {
    const thought = response("look", "c1", {
      parts: [
        { type: "reasoning", text: "Hm.", provider: { other: { x: "y" } } },
        { type: "call", id: "c1", tool: "look", input: {} },
      ],
    });
    for (const name of ["openai-compatible/kimi-k3", "openai-compatible/deepseek-v4", "openai-compatible/qwen"]) {
      const [body] = await bodiesOf(name, (url) => ({ OPENAI_COMPATIBLE_BASE_URL: `${url}/v1` }), {
        messages: [user("a"), thought, response("look", "c2"), user("b")],
      });
      const messages = (body?.messages ?? []) as readonly { reasoning_content?: string }[];
      const fields = messages.flatMap(({ reasoning_content = [] }) => reasoning_content);
      expect(fields, name).toEqual(name.includes("qwen") ? [] : ["Hm.", " "]);
    }
  });

  test("F66: Claude does not think in the middle of a turn that another model began", async () => {
    const [name, env] = AT.anthropic;
    const by = (model: string) => ({
      messages: [user("a"), response("look", "c1", { model })],
      tools: [look],
      settings: { effort: "low" as const },
    });
    const bodies = await bodiesOf(name, env, by("openai/gpt-5.4"), by("anthropic/claude-opus-4-1"));
    expect(bodies.map(({ thinking }) => thinking !== undefined)).toEqual([false, true]);
  });
});
