import { Agent, defineTool, Session, say } from "@banyan/core";
import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ollamaChat } from "./local/ollama.ts";
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

/** The schema of `output`, as providers get it that require all names. */
const strict = {
  type: "object",
  properties: {
    city: { type: "string" },
    days: { anyOf: [{ type: "integer" }, { type: "null" }] },
    begins: { type: "string" },
  },
  required: ["city", "days", "begins"],
  additionalProperties: false,
};
const { properties } = output["~standard"].jsonSchema.input();
const closed = { ...strict, properties, required: ["city", "begins"] };
const chatFormat = { type: "json_schema", json_schema: { name: "result", strict: true, schema: strict } };

type Body = Readonly<Record<string, unknown>>;

const wires = [
  {
    name: "openai-compatible/trips",
    env: () => ({ OPENAI_COMPATIBLE_BASE_URL: `${mock.url}/v1` }),
    sent: { response_format: chatFormat },
  },
  {
    name: "openai-compatible/package",
    env: () => ({ OPENAI_COMPATIBLE_BASE_URL: `${mock.url}/v1` }),
    sent: { response_format: chatFormat },
    driver: "package" as const,
  },
  {
    name: "openai/gpt-5",
    env: () => ({ OPENAI_API_KEY: "test", OPENAI_BASE_URL: `${mock.url}/v1` }),
    sent: { text: { format: { type: "json_schema", name: "result", strict: true, schema: strict } } },
    withTools: true,
  },
  {
    name: "openai/gpt-5-mini",
    env: () => ({ OPENAI_API_KEY: "test", OPENAI_BASE_URL: `${mock.url}/v1` }),
    sent: { text: { format: { type: "json_schema", name: "result", strict: true, schema: strict } } },
    withTools: true,
    driver: "package" as const,
  },
  {
    name: "anthropic/claude-sonnet-4-5",
    env: () => ({ ANTHROPIC_API_KEY: "test", ANTHROPIC_BASE_URL: mock.url }),
    sent: { output_config: { format: { type: "json_schema", schema: closed } } },
    withTools: true,
  },
  {
    name: "google/gemini-3.5-flash",
    env: () => ({ GOOGLE_GENERATIVE_AI_API_KEY: "test", GOOGLE_GENERATIVE_AI_BASE_URL: `${mock.url}/v1beta` }),
    sent: { generationConfig: { responseMimeType: "application/json", responseJsonSchema: strict } },
    withTools: true,
  },
  {
    name: "google/gemini-3.1-pro-preview",
    env: () => ({ GOOGLE_GENERATIVE_AI_API_KEY: "test", GOOGLE_GENERATIVE_AI_BASE_URL: `${mock.url}/v1beta` }),
    sent: { generationConfig: { responseMimeType: "application/json", responseJsonSchema: strict } },
    withTools: true,
    driver: "package" as const,
  },
];

/** Opens a model at the mock. `bodies` gets each request, and `refuse` may answer a request itself. */
async function open(
  { name, env, driver }: (typeof wires)[number],
  bodies: Body[] = [],
  refuse: (body: Body) => Response | undefined = () => undefined,
) {
  const send: typeof fetch = async (address, init) => {
    const body: Body = JSON.parse(String(init?.body));
    bodies.push(body);
    return refuse(body) ?? fetch(address, init);
  };
  return resolveModel(name, { env: env(), fetch: send, overrides: driver ? { [name]: { driver } } : {} });
}

const weather = defineTool({
  name: "weather",
  description: "Returns the weather of a city.",
  input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  effects: "none",
  execute: () => "sunny",
});

const REFUSALS: Readonly<Record<string, readonly [status: number, message: string]>> = {
  // As llama.cpp answers to a schema that it cannot enforce.
  "openai-compatible/trips": [500, "failed to parse grammar"],
  "openai-compatible/package": [400, "'response_format' of type 'json_schema' is not supported with this model"],
  "openai/gpt-5": [400, "Invalid schema for text.format 'result'"],
  "openai/gpt-5-mini": [400, "Invalid schema for text.format 'result'"],
  "anthropic/claude-sonnet-4-5": [400, "output_config.format: Extra inputs are not permitted"],
  "google/gemini-3.5-flash": [400, 'Unknown name "response_json_schema" at generation_config'],
  "google/gemini-3.1-pro-preview": [400, 'Unknown name "response_json_schema" at generation_config'],
};

describe.each(wires)("a typed result over the wire of $name", (wire) => {
  test("L2: in chat mode, a response that does not match is requested again", async () => {
    mock.on({ userMessage: "does not match the requested schema" }, { content: rome });
    mock.on({ userMessage: "trip" }, { content: "Rome is nice." });
    const agent = new Agent({ model: await open(wire), output });
    expect(await agent.send("Plan a trip.")).toMatchObject({ reason: "answered", result, steps: 2 });
    // The request has the schema.
    expect(JSON.stringify(mock.getRequests()[0]?.body)).toContain("begins");
  });

  test("L2: in task mode, the model passes the result to finish_task", async () => {
    mock.on({ userMessage: "trip" }, { toolCalls: [{ name: "finish_task", arguments: `{"result":${rome}}` }] });
    const bodies: Body[] = [];
    const agent = new Agent({ model: await open(wire, bodies), output, mode: "task" });
    expect(await agent.send("Plan a trip.")).toMatchObject({ reason: "finished", result, steps: 1 });
    expect(bodies[0]).not.toMatchObject(wire.sent);
  });

  test("L2: sends the schema to the provider, which may write null for an optional name", async () => {
    mock.on({ userMessage: "trip" }, { content: `{"city":"Rome","days":null,"begins":"2026-11-29"}` });
    const bodies: Body[] = [];
    const agent = new Agent({ model: await open(wire, bodies), output });
    await using session = Session.inMemory();
    expect(await agent.send("Plan a trip.", { session })).toMatchObject({ result, steps: 1 });
    expect(bodies[0]).toMatchObject(wire.sent);
    // A second turn begins with the same bytes.
    await agent.send("Another trip.", { session });
    const [first, second] = bodies.map(withoutMarks);
    const list = Object.keys(first).find((name) => ["messages", "input", "contents"].includes(name)) ?? "";
    expect(second).toEqual({ ...first, [list]: second[list] });
    expect(second[list].slice(0, first[list].length)).toEqual(first[list]);
  });

  test.each([
    { mode: "chat" as const, response: { content: rome } },
    { mode: "task" as const, response: { toolCalls: [{ name: "finish_task", arguments: `{"result":${rome}}` }] } },
  ])("L2: streams partial results in $mode mode", async ({ mode, response }) => {
    mock.on({ userMessage: "trip" }, response, { latency: 2 });
    const chat = new Agent({ model: await open(wire), output, mode }).chat(say("Plan a trip."));
    const partials: unknown[] = [];
    for await (const partial of chat.partialResults()) partials.push(partial);
    expect(partials.at(-1)).toEqual(JSON.parse(rome));
    expect((await chat.turn).result).toEqual(result);
    // Gemini's calls come whole.
    if (!(mode === "task" && wire.name.startsWith("google"))) expect(partials).toContainEqual({ city: "Rome" });
  });

  test("L2: leaves the model its tools", async () => {
    mock.on({ hasToolResult: true }, { content: rome });
    mock.on({ userMessage: "trip" }, { toolCalls: [{ name: "weather", arguments: '{"city":"Rome"}' }] });
    const bodies: Body[] = [];
    const agent = new Agent({ model: await open(wire, bodies), output, tools: [weather] });
    expect(await agent.send("Plan a trip.")).toMatchObject({ result, steps: 2 });
    // Local servers forbid calls if a request has both.
    for (const body of bodies) {
      if (wire.withTools) expect(body).toMatchObject(wire.sent);
      else expect(body).not.toHaveProperty("response_format");
      expect(JSON.stringify(body)).not.toMatch(/"tool_choice":("required"|\{"type":"(any|tool|required)")/);
    }
  });

  test("L2: a server that refuses the schema gets one retry without it, and never gets it again", async () => {
    mock.on({ userMessage: "trip" }, { content: rome });
    const bodies: Body[] = [];
    const [status, message] = REFUSALS[wire.name] ?? [0, ""];
    const model = await open(wire, bodies, (body) =>
      JSON.stringify(body).includes('additionalProperties":false')
        ? Response.json({ error: { message, type: "invalid_request_error" } }, { status })
        : undefined,
    );
    const agent = new Agent({ model, output });
    const notes: string[] = [];
    await using session = Session.inMemory();
    for (const turn of [1, 2]) {
      const chat = agent.chat(say("Plan a trip."), { session });
      for await (const item of chat) if (item.type === "request.changed") notes.push(item.reason);
      expect(await chat.turn, `turn ${turn}`).toMatchObject({ result, steps: 1 });
    }
    expect(bodies).toHaveLength(3);
    expect(notes).toEqual([
      "The provider refused the schema of the result. From now on, only the instructions contain the schema.",
    ]);
  });
});

function withoutMarks(body: Body) {
  return JSON.parse(JSON.stringify(body, (name, value) => (name === "cache_control" ? undefined : value)));
}

test("L2: Ollama's own API gets the schema as format, unless the model has tools", async () => {
  const bodies: Body[] = [];
  const send: typeof fetch = async (_, init) => {
    bodies.push(JSON.parse(String(init?.body)));
    const line = JSON.stringify({ message: { role: "assistant", content: rome }, done: true });
    return new Response(`${line}\n`, { headers: { "content-type": "application/x-ndjson" } });
  };
  const options = { id: "ollama/trips", model: "trips", baseURL: "http://models.example", window: () => 4_096 };
  const agent = new Agent({ model: ollamaChat({ ...options, fetch: send }), output });
  expect(await agent.send("Plan a trip.")).toMatchObject({ result, steps: 1 });
  expect(await agent.with({ tools: [weather] }).send("Plan a trip.")).toMatchObject({ result, steps: 1 });
  expect(bodies.map(({ format }) => format)).toEqual([strict, undefined]);
});
