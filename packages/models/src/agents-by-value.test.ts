import { Agent } from "@banyan/core";
import { LLMock } from "@copilotkit/aimock";
import { expect, onTestFinished, test } from "vitest";
import { resolveModel } from "./resolve.ts";

test("L3: an agent with its own wire is a tool of an agent with another wire", async () => {
  const mock = new LLMock({ port: 0, chunkSize: 4, logLevel: "silent" });
  await mock.start();
  onTestFinished(() => mock.stop());
  const env = {
    OPENAI_API_KEY: "x",
    ANTHROPIC_API_KEY: "x",
    OPENAI_BASE_URL: `${mock.url}/v1`,
    ANTHROPIC_BASE_URL: mock.url,
  };
  mock.on({ predicate: ({ messages }) => messages.at(-1)?.role === "tool" }, { content: "Rome it is." });
  mock.on({ userMessage: "Where to?" }, { toolCalls: [{ name: "planner", arguments: '{"task":"Plan a trip."}' }] });
  mock.on({ userMessage: "Plan a trip." }, { content: '{"city":"Rome"}' });
  const output = { type: "object", properties: { city: { type: "string" } }, required: ["city"] } as const;
  const plannersModel = await resolveModel("anthropic/claude-sonnet-4-5", { env });
  const planner = new Agent({ name: "planner", description: "Plans trips.", model: plannersModel, output });
  const agent = new Agent({ model: await resolveModel("openai/gpt-5", { env }), tools: [planner.asTool()] });
  expect(await agent.send("Where to?")).toMatchObject({ reason: "answered", text: "Rome it is." });
  const [, planning, answering] = mock.getRequests();
  expect([planning?.path, answering?.path]).toEqual(["/v1/messages", "/v1/responses"]);
  expect(JSON.stringify(answering?.body)).toContain('{\\"city\\":\\"Rome\\"}');
});
