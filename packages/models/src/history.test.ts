import { Agent, defineTool, pathTo, Session } from "@banyan/core";
import { branchFrom } from "@banyan/core/testing";
import { LLMock } from "@copilotkit/aimock";
import fc from "fast-check";
import OpenAI from "openai";
import type { ChatCompletionMessageParam } from "openai/resources/chat/completions";
import type { ResponseInputItem } from "openai/resources/responses/responses";
import { afterAll, beforeAll, expect, test } from "vitest";
import { toOpenAIMessages } from "./openai-chat/messages.ts";
import { resolveModel } from "./resolve.ts";

const mock = new LLMock({ port: 0, logLevel: "silent" });
beforeAll(() => mock.start());
afterAll(() => mock.stop());

const words = fc.string({ unit: fc.constantFrom("a", "é", "日", " ", "\n") }).map((text) => `x${text}.`);
const step = fc.record({
  text: fc.option(words, { nil: undefined }),
  calls: fc.array(fc.tuple(fc.dictionary(fc.constantFrom("a", "b"), words), words), { minLength: 1, maxLength: 3 }),
});
const turn = fc.record({ said: words, steps: fc.array(step, { maxLength: 3 }), answer: words });

test("L5: a history in OpenAI's chat format stays the same after import and export", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { maxLength: 3 }), async (turns) => {
      let calls = 0;
      const messages = turns.flatMap(({ said, steps, answer }): ChatCompletionMessageParam[] => [
        { role: "user", content: said },
        ...steps.flatMap(({ text, calls: made }): ChatCompletionMessageParam[] => {
          const named = made.map(([input, output]) => ({
            id: `call_${calls++}`,
            input: JSON.stringify(input),
            output,
          }));
          const toolCalls = named.map(({ id, input }) => {
            return { id, type: "function" as const, function: { name: "look", arguments: input } };
          });
          return [
            { role: "assistant", content: text ?? null, tool_calls: toolCalls },
            ...named.map(({ id, output }) => ({ role: "tool" as const, tool_call_id: id, content: output })),
          ];
        }),
        { role: "assistant", content: answer },
      ]);
      const session = Session.inMemory();
      await session.addHistory(messages);
      expect(toOpenAIMessages(session.state.leaf === null ? [] : pathTo(session.state, session.state.leaf))).toEqual(
        messages,
      );
    }),
    { numRuns: 30 },
  );
});

const history: ResponseInputItem[] = [
  { role: "user", content: "What time is it?" },
  { type: "function_call", call_id: "call_1", name: "clock", arguments: "{}" },
  { type: "function_call_output", call_id: "call_1", output: "12:30" },
  { role: "assistant", content: "Half past twelve." },
];

test.each([
  { name: "openai-compatible/clocks", env: () => ({ OPENAI_COMPATIBLE_BASE_URL: `${mock.url}/v1` }) },
  { name: "openai/gpt-5", env: () => ({ OPENAI_API_KEY: "test", OPENAI_BASE_URL: `${mock.url}/v1` }) },
  {
    name: "openai/package",
    env: () => ({ OPENAI_API_KEY: "test", OPENAI_BASE_URL: `${mock.url}/v1` }),
    driver: "package" as const,
  },
  { name: "anthropic/claude-sonnet-4-5", env: () => ({ ANTHROPIC_API_KEY: "test", ANTHROPIC_BASE_URL: mock.url }) },
  {
    name: "google/gemini-2.5-flash",
    env: () => ({ GOOGLE_GENERATIVE_AI_API_KEY: "test", GOOGLE_GENERATIVE_AI_BASE_URL: `${mock.url}/v1beta` }),
  },
])("L5: the next request to $name has the calls and results of the history", async ({ name, env, driver }) => {
  mock.reset();
  mock.on({ userMessage: "Sure?" }, { content: "Yes." });
  const session = Session.inMemory();
  await session.addHistory(history);
  const agent = new Agent({
    model: await resolveModel(name, { env: env(), overrides: driver ? { [name]: { driver } } : {} }),
  });
  expect((await agent.send("Sure?", { session })).text).toBe("Yes.");
  expect(JSON.stringify(mock.getRequests().at(-1)?.body)).toMatch(
    /What time is it.*call_1.*clock.*12:30.*Half past twelve.*Sure/s,
  );
});

test("L5: OpenAI's client sends a conversation of Banyan to both of its addresses", async () => {
  mock.reset();
  mock.on({ userMessage: "Sure?" }, { content: "Yes." });
  const session = Session.inMemory();
  await session.addHistory(history);
  await session.add("Sure?");
  const client = new OpenAI({ apiKey: "test", baseURL: `${mock.url}/v1` });
  const messages: ChatCompletionMessageParam[] = await session.toMessages("openai-chat");
  const chat = await client.chat.completions.create({ model: "gpt-5", messages });
  expect(chat.choices[0]?.message.content).toBe("Yes.");
  const input: ResponseInputItem[] = await session.toMessages("openai-responses");
  const response = await client.responses.create({ model: "gpt-5", input });
  expect(response.output_text).toBe("Yes.");
  expect(input).toEqual([...history, { role: "user", content: "Sure?" }]);
});

test("L7: branchFrom sends the request of a step to another provider", async () => {
  mock.reset();
  mock.on(
    { userMessage: "What time is it?", hasToolResult: false },
    { toolCalls: [{ name: "clock", arguments: "{}" }] },
  );
  mock.on({ userMessage: "What time is it?", hasToolResult: true }, { content: "Half past twelve." });
  const clock = defineTool({
    name: "clock",
    description: "",
    input: { type: "object" },
    effects: "none",
    execute: () => "12:30",
  });
  const env = {
    OPENAI_API_KEY: "test",
    OPENAI_BASE_URL: `${mock.url}/v1`,
    ANTHROPIC_API_KEY: "test",
    ANTHROPIC_BASE_URL: mock.url,
  };
  const agent = new Agent({ model: await resolveModel("openai/gpt-5", { env }), tools: [clock] });
  const session = Session.inMemory();
  await agent.send("What time is it?", { session });
  const [first, second] = pathTo(session.state, session.state.leaf).filter(({ role }) => role === "assistant");
  const model = await resolveModel("anthropic/claude-sonnet-4-5", { env });
  const other = await branchFrom(first, { session, agent, model });
  expect(other).toMatchObject({ parentId: first?.parentId, calls: [{ tool: "clock", status: "denied" }] });
  expect(await branchFrom(second, { session, agent, model })).toMatchObject({
    parentId: first?.id,
    parts: [{ type: "text", text: "Half past twelve." }],
  });
  const { path, body } = mock.getRequests().at(-1) ?? {};
  expect(path).toBe("/v1/messages");
  expect(JSON.stringify(body)).toMatch(/What time is it.*clock.*12:30/s);
});
