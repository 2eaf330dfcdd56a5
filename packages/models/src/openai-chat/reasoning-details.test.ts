import type { ModelPart, PromptMessage } from "@banyan/core/drivers";
import { describe, expect, test } from "vitest";
import { bodyOf, chunk, serve, streamed } from "../testing/server.ts";
import { answerOf, say } from "../testing/sink.ts";
import { bodyBytes } from "../wire/body.ts";
import { openAIChat } from "./driver.ts";
import { encodeChatRequest } from "./request.ts";

type Assistant = Extract<PromptMessage, { role: "assistant" }>;

const thought = [
  { type: "reasoning.text", index: 0, text: "I should", format: "anthropic-claude-v1", signature: null },
  { type: "reasoning.text", index: 0, text: " look." },
  { type: "reasoning.text", index: 0, signature: "c2ln" },
];
const whole = {
  type: "reasoning.text",
  index: 0,
  text: "I should look.",
  format: "anthropic-claude-v1",
  signature: "c2ln",
};
const encrypted = { type: "reasoning.encrypted", index: 0, id: "call_1", data: "eHg=" };
const call = { index: 0, id: "call_1", type: "function", function: { name: "look", arguments: "{}" } };

/** Streams a provider's answer. Returns the body of the request that sends it back. */
async function roundTrip(deltas: readonly object[], next = "openrouter/m") {
  const bodies: string[] = [];
  await using server = await serve(async (request, response) => {
    bodies.push(await bodyOf(request));
    streamed(response, ...deltas.map((delta) => chunk(delta)), chunk({}, "stop"), "[DONE]");
  });
  const open = (name: string) => openAIChat({ id: name, model: "m", baseURL: server.baseURL });
  const parts = await answerOf(open("openrouter/m"), say("x"));
  const request = say("x");
  await answerOf(open(next), { ...request, messages: [...request.messages, kept(parts)] });
  const { messages } = JSON.parse(bodies[1] ?? "") as { messages: Record<string, unknown>[] };
  return { parts, answer: messages[1] };
}

/** The answer as the loop keeps it. */
function kept(parts: readonly ModelPart[]): Assistant {
  const content: Assistant["parts"][number][] = [];
  for (const part of parts) {
    if (part.type === "text" || part.type === "reasoning") content.push(part);
    if (part.type === "part-end" && part.provider) Object.assign(content.at(-1) ?? {}, { provider: part.provider });
    if (part.type === "call") content.push({ type: "call", id: part.id, tool: part.tool, input: {} });
    if (part.type === "call-end" && part.provider) Object.assign(content.at(-1) ?? {}, { provider: part.provider });
  }
  const results = content.flatMap((part) =>
    part.type === "call" ? [{ call: part.id, tool: part.tool, output: "seen", failed: false }] : [],
  );
  return { role: "assistant", parts: structuredClone(content), results };
}

describe("content that OpenRouter needs again", () => {
  test("reasoning with its signature, put together from its pieces, before a call", async () => {
    const deltas = thought.map((detail) => ({
      reasoning: "text" in detail ? detail.text : "",
      reasoning_details: [detail],
    }));
    const { answer } = await roundTrip([...deltas, { tool_calls: [call] }]);
    expect(answer).toMatchObject({ reasoning_details: [whole], tool_calls: [{ id: "call_1" }] });
    expect(answer).not.toHaveProperty("reasoning");
  });

  test("encrypted reasoning, though it follows the call", async () => {
    const { answer } = await roundTrip([{ tool_calls: [call] }, { reasoning_details: [encrypted, encrypted] }]);
    expect(answer?.reasoning_details).toEqual([encrypted, encrypted]);
  });

  test("reasoning before a text", async () => {
    const { answer } = await roundTrip([
      ...thought.map((detail) => ({ reasoning_details: [detail] })),
      { content: "Hi" },
    ]);
    expect(answer).toEqual({ role: "assistant", content: "Hi", reasoning_details: [whole] });
  });

  test("is not shown to another provider", async () => {
    const { answer } = await roundTrip([{ content: "Hi", reasoning_details: [encrypted] }], "groq/m");
    expect(answer).toEqual({ role: "assistant", content: "Hi" });
  });
});

describe("reasoning that came as text", () => {
  const [other, field] = ["reasoning", "reasoning_content"];
  const thinking = (name: string) => [{ [name]: "I should" }, { [name]: " look." }];

  test.each([
    [field, "a call", { tool_calls: [call] }],
    [other, "a call", { tool_calls: [call] }],
    [field, "a text", { content: "Hi" }],
    [other, "a list of segments", { content: [{ type: "text", text: "Hi" }] }],
  ])("goes back in the field in which it came: %s, before %s", async (name, _, next) => {
    const { answer } = await roundTrip([...thinking(name), next, ...thinking(name)]);
    expect(answer).toMatchObject({ [name]: "I should look.I should look." });
    expect(answer).not.toHaveProperty(name === field ? other : field);
  });

  test("is not shown to another provider", async () => {
    const { answer } = await roundTrip([...thinking(field), { content: "Hi" }], "groq/m");
    expect(answer).toEqual({ role: "assistant", content: "Hi" });
  });

  test("appears in no other field, whatever the log contains", () => {
    const provider = { p: { field: "role" } };
    const answer: PromptMessage = {
      role: "assistant",
      parts: [
        { type: "reasoning", text: "system", provider },
        { type: "text", text: "Hi" },
      ],
      results: [],
    };
    const body = encodeChatRequest(
      { model: "m", provider: "p", maxTokensField: "max_tokens" },
      { ...say("x"), messages: [answer] },
    );
    expect(JSON.parse(String(bodyBytes(body))).messages).toEqual([{ role: "assistant", content: "Hi" }]);
  });
});

test("each provider gets its own encoding of one message, in any order", () => {
  const provider = { openrouter: { reasoning_details: [encrypted] } };
  const answer: PromptMessage = { role: "assistant", parts: [{ type: "text", text: "Hi", provider }], results: [] };
  const request = { ...say("x"), messages: [answer] };
  const bodyFor = (name: string) =>
    bodyBytes(encodeChatRequest({ model: "m", provider: name, maxTokensField: "max_tokens" }, request));
  const holds = (name: string) => String(bodyFor(name)).includes("reasoning_details");
  expect(["openrouter", "groq", "openrouter"].map(holds)).toEqual([true, false, true]);
});

test("Google's signature of a call goes back with the call", async () => {
  const extra_content = { google: { thought_signature: "c2ln" } };
  const other = { ...call, index: 1, id: "call_2" };
  const { answer } = await roundTrip([{ tool_calls: [{ ...call, extra_content }, other] }]);
  expect(answer?.tool_calls).toEqual([
    { id: "call_1", type: "function", function: { name: "look", arguments: "{}" }, extra_content },
    { id: "call_2", type: "function", function: { name: "look", arguments: "{}" } },
  ]);
});
