import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { fromLanguageModel } from "@banyan/core/ai-sdk";
import type { ModelRequest, PromptMessage, ToolSchema } from "@banyan/core/drivers";
import { describe, expect, test } from "vitest";
import { KeepingSink, say } from "../testing/sink.ts";
import { bodyBytes } from "../wire/body.ts";
import { encodeChatRequest } from "./request.ts";

const shape = { model: "m", provider: "p", maxTokensField: "max_tokens" } as const;
const tools: readonly ToolSchema[] = [
  { name: "read", description: "Reads.", input: { type: "object", properties: { path: { type: "string" } } } },
];

function body(request: ModelRequest): Record<string, unknown> {
  return JSON.parse(String(bodyBytes(encodeChatRequest(shape, request))));
}

function messages(...list: readonly PromptMessage[]): unknown {
  return body(say("", { messages: list })).messages;
}

test("a request asks for a stream with its usage", () => {
  expect(body(say("Hi"))).toEqual({
    model: "m",
    stream: true,
    stream_options: { include_usage: true },
    messages: [{ role: "user", content: "Hi" }],
  });
});

test("instructions are the system message", () => {
  expect(body(say("Hi", { instructions: "Be brief." })).messages).toEqual([
    { role: "system", content: "Be brief." },
    { role: "user", content: "Hi" },
  ]);
});

describe("user messages", () => {
  test("several texts go as one", () => {
    expect(
      messages({
        role: "user",
        parts: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
      }),
    ).toEqual([{ role: "user", content: "a\n\nb" }]);
  });

  test("images go by address or with their bytes, other files with their bytes", () => {
    expect(
      messages({
        role: "user",
        parts: [
          { type: "text", text: "See" },
          { type: "file", mediaType: "image/png", data: "QUJD" },
          { type: "file", mediaType: "image/png", url: "https://a.example/b.png" },
          { type: "file", mediaType: "application/pdf", name: "c.pdf", data: "QUJD" },
        ],
      }),
    ).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "See" },
          { type: "image_url", image_url: { url: "data:image/png;base64,QUJD" } },
          { type: "image_url", image_url: { url: "https://a.example/b.png" } },
          { type: "file", file: { filename: "c.pdf", file_data: "data:application/pdf;base64,QUJD" } },
        ],
      },
    ]);
  });
});

test("an assistant message is followed by the results of its calls, without the reasoning of another provider", () => {
  expect(
    messages({
      role: "assistant",
      parts: [
        { type: "reasoning", text: "Hm" },
        { type: "text", text: "Let me see." },
        { type: "call", id: "a", tool: "read", input: { path: "x" } },
        { type: "call", id: "b", tool: "read", input: {} },
      ],
      results: [
        { call: "a", tool: "read", output: "X", failed: false },
        { call: "b", tool: "read", output: "no path", failed: true },
      ],
    }),
  ).toEqual([
    {
      role: "assistant",
      content: "Let me see.",
      tool_calls: [
        { id: "a", type: "function", function: { name: "read", arguments: '{"path":"x"}' } },
        { id: "b", type: "function", function: { name: "read", arguments: "{}" } },
      ],
    },
    { role: "tool", tool_call_id: "a", content: "X" },
    { role: "tool", tool_call_id: "b", content: "no path" },
  ]);
});

test("an assistant message with nothing but calls has no content", () => {
  const [message] = messages({
    role: "assistant",
    parts: [{ type: "call", id: "a", tool: "read", input: {} }],
    results: [],
  }) as [{ content: unknown }];
  expect(message.content).toBeNull();
});

test("tools keep their place when no call is allowed", () => {
  const encoded = [
    { type: "function", function: { name: "read", description: "Reads.", parameters: tools[0]?.input } },
  ];
  expect(body(say("Hi", { tools }))).toMatchObject({ tools: encoded });
  expect(body(say("Hi", { tools }))).not.toHaveProperty("tool_choice");
  expect(body(say("Hi", { tools, toolChoice: "none" }))).toMatchObject({ tools: encoded, tool_choice: "none" });
  expect(body(say("Hi", { toolChoice: "none" }))).not.toHaveProperty("tool_choice");
});

describe("settings", () => {
  test("each has its field", () => {
    expect(body(say("Hi", { settings: { temperature: 0, maxTokens: 9, stop: ["."], effort: "low" } }))).toMatchObject({
      temperature: 0,
      max_tokens: 9,
      stop: ["."],
      reasoning_effort: "low",
    });
  });

  test("the field of the output limit can be the newer one", () => {
    const newer = { ...shape, maxTokensField: "max_completion_tokens" } as const;
    const encoded = JSON.parse(String(bodyBytes(encodeChatRequest(newer, say("Hi", { settings: { maxTokens: 9 } })))));
    expect(encoded).toMatchObject({ max_completion_tokens: 9 });
    expect(encoded).not.toHaveProperty("max_tokens");
  });

  test("the effort max is the most that the format knows", () => {
    expect(body(say("Hi", { settings: { effort: "max" } }))).toMatchObject({ reasoning_effort: "high" });
  });

  test("the request has the options of its own provider only", () => {
    const providerOptions = { p: { top_k: 5, temperature: 1, messages: [], stream: false }, q: { seed: 1 } };
    const encoded = body(say("Hi", { settings: { temperature: 0, providerOptions } }));
    expect(encoded).toMatchObject({
      top_k: 5,
      temperature: 1,
      stream: true,
      messages: [{ role: "user", content: "Hi" }],
    });
    expect(encoded).not.toHaveProperty("seed");
  });
});

test("each message and the tools are encoded once for any number of steps", () => {
  const reads = new Map<object, number>();
  const counted = <T extends object>(value: T): T =>
    new Proxy(value, {
      get(target, key, self) {
        if (key === "parts" || key === "input") reads.set(target, (reads.get(target) ?? 0) + 1);
        return Reflect.get(target, key, self);
      },
    });
  const history: PromptMessage[] = [];
  const list = tools.map(counted);
  const bodies = [1, 2, 3].map((step) => {
    history.push(
      counted<PromptMessage>({ role: "user", parts: [{ type: "text", text: `q${step}` }] }),
      counted<PromptMessage>({ role: "assistant", parts: [{ type: "text", text: `a${step}` }], results: [] }),
    );
    return body(say("", { messages: history, tools: list }));
  });
  expect(bodies.map(({ messages }) => (messages as unknown[]).length)).toEqual([2, 4, 6]);
  expect([...reads.values()]).toEqual(Array(7).fill(1));
});

test("a prompt keeps every character", () => {
  const text = '\u0000 \u2028 \ud83c\udf33 \ud800 " \\ </script>';
  expect(body(say(text)).messages).toEqual([{ role: "user", content: text }]);
});

describe("a request equals the request of the provider package", () => {
  /** The package's request, without the default `tool_choice`. */
  async function sentByPackage(request: ModelRequest): Promise<unknown> {
    const sent = Promise.withResolvers<string>();
    const keep: typeof fetch = async (_, init) => {
      sent.resolve(String(init?.body));
      throw new Error("The request was only captured, not sent.");
    };
    const provider = createOpenAICompatible({ name: "p", baseURL: "http://p", includeUsage: true, fetch: keep });
    const driver = fromLanguageModel(provider("m"));
    driver.stream(request, new KeepingSink(), new AbortController().signal).catch(sent.reject);
    const { tool_choice, ...body } = JSON.parse(await sent.promise);
    return tool_choice === "auto" ? body : { ...body, tool_choice };
  }

  const seen = { call: "a", tool: "read", output: "X", failed: false };
  const history: readonly PromptMessage[] = [
    { role: "user", parts: [{ type: "text", text: "Zażółć 🌳" }] },
    {
      role: "assistant",
      parts: [
        { type: "reasoning", text: "I should look.", provider: { p: { field: "reasoning_content" } } },
        { type: "text", text: "Let me see." },
        { type: "call", id: "a", tool: "read", input: { path: "x" } },
      ],
      results: [seen],
    },
    {
      role: "user",
      parts: [
        { type: "text", text: "And this?" },
        { type: "file", mediaType: "image/png", data: "QUJD" },
        { type: "file", mediaType: "image/png", url: "https://a.example/b.png" },
        { type: "file", mediaType: "application/pdf", name: "c.pdf", data: "QUJD" },
      ],
    },
    { role: "assistant", parts: [{ type: "text", text: "It is a tree." }], results: [] },
    { role: "user", parts: [{ type: "text", text: "Thanks" }] },
  ];

  test.each<[name: string, request: Partial<ModelRequest>]>([
    [
      "instructions and the usual settings",
      { instructions: "Be brief.", settings: { temperature: 0.5, maxTokens: 9 } },
    ],
    ["where to stop, and an effort", { settings: { stop: ["END", "STOP"], effort: "low" } }],
    ["options of its own", { settings: { providerOptions: { p: { top_k: 5, top_p: 1 }, q: { seed: 1 } } } }],
    ["tools", { tools }],
    ["tools that must not be called", { tools, toolChoice: "none" }],
    ["reasoning, calls, results, images and a file", { messages: history, tools }],
  ])("with %s", async (_, more) => {
    const request = say("Hi", more);
    expect(body(request)).toEqual(await sentByPackage(request));
  });
});
