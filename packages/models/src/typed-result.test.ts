import { Agent } from "@banyan/core";
import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { resolveModel } from "./resolve.ts";

const mock = new LLMock({ port: 0, chunkSize: 4, logLevel: "silent" });
beforeAll(() => mock.start());
afterAll(() => mock.stop());
beforeEach(() => mock.reset());

/** A Standard Schema with a default and a transform. */
const output = {
  "~standard": {
    version: 1 as const,
    vendor: "test",
    validate(value: unknown) {
      const { city, days = 3, begins } = value as Readonly<Record<string, unknown>>;
      if (typeof city !== "string") return { issues: [{ message: "city is no text" }] };
      return { value: { city, days: Number(days), begins: new Date(String(begins)) } };
    },
    jsonSchema: {
      input: () => ({
        type: "object",
        properties: { city: { type: "string" }, days: { type: "integer" }, begins: { type: "string" } },
        required: ["city", "begins"],
      }),
    },
  },
};

const rome = '{"city":"Rome","begins":"2026-11-29"}';
const result = { city: "Rome", days: 3, begins: new Date("2026-11-29") };

const wires = [
  { name: "openai-compatible/trips", env: () => ({ OPENAI_COMPATIBLE_BASE_URL: `${mock.url}/v1` }) },
  { name: "openai/gpt-5", env: () => ({ OPENAI_API_KEY: "test", OPENAI_BASE_URL: `${mock.url}/v1` }) },
  { name: "anthropic/claude-sonnet-4-5", env: () => ({ ANTHROPIC_API_KEY: "test", ANTHROPIC_BASE_URL: mock.url }) },
];

describe.each(wires)("a typed result over the wire of $name", ({ name, env }) => {
  test("L2: in chat mode, a response that does not match is requested again", async () => {
    mock.on({ userMessage: "does not match the requested schema" }, { content: rome });
    mock.on({ userMessage: "trip" }, { content: "Rome is nice." });
    const agent = new Agent({ model: await resolveModel(name, { env: env() }), output });
    expect(await agent.send("Plan a trip.")).toMatchObject({ reason: "answered", result, steps: 2 });
    // The request has the schema.
    expect(JSON.stringify(mock.getRequests()[0]?.body)).toContain("begins");
  });

  test("L2: in task mode, the model passes the result to finish_task", async () => {
    mock.on({ userMessage: "trip" }, { toolCalls: [{ name: "finish_task", arguments: `{"result":${rome}}` }] });
    const agent = new Agent({ model: await resolveModel(name, { env: env() }), output, mode: "task" });
    expect(await agent.send("Plan a trip.")).toMatchObject({ reason: "finished", result, steps: 1 });
  });
});
