import { Agent, type ModelDriver, ModelError, type ModelSettings } from "@banyan/core";
import type { ModelRequest } from "@banyan/core/drivers";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { resolveModel } from "../resolve.ts";
import { asksWindow, bodyOf, chunk, eventOf, serve, streamed, type TestServer } from "../testing/server.ts";
import { answerOf, say } from "../testing/sink.ts";

/** A server that accepts every request, and keeps the bodies. */
let server: TestServer;
const bodies: unknown[] = [];
beforeAll(async () => {
  server = await serve(async (request, reply) => {
    if (asksWindow(request)) {
      // One address answers as Ollama does; at the other one, only the chat completions format is known.
      if (request.url?.startsWith("/v1")) return reply.writeHead(404).end();
      return reply.end('{"models":[],"model_info":{"m.context_length":4096}}');
    }
    bodies.push(JSON.parse(await bodyOf(request)));
    return reply.writeHead(200, { "content-type": "text/event-stream" }).end();
  });
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => void bodies.splice(0));

type Name = "topP" | "seed" | "stop" | "required" | "tool";

/** The fields that a provider gets for each setting. A text: the driver refuses the setting, with this sentence. */
interface Wire {
  readonly model: string;
  /** The server's address without `/v1`. */
  readonly bare?: true;
  readonly env: string;
  readonly gets: Readonly<Record<Name, object | string>>;
}

const tools = ["look", "open"].map((name) => ({ name, description: "A tool.", input: { type: "object" } }));
const asked: Readonly<Record<Name, Partial<ModelRequest>>> = {
  topP: { settings: { topP: 0.5 } },
  seed: { settings: { seed: 7 } },
  stop: { settings: { stop: ["END"] } },
  required: { tools, toolChoice: "required" },
  tool: { tools, toolChoice: { tool: "open" } },
};

const chosen = { type: "function", function: { name: "open" } };
const chat = {
  topP: { top_p: 0.5 },
  seed: { seed: 7 },
  stop: { stop: ["END"] },
  required: { tool_choice: "required" },
  tool: { tool_choice: chosen },
};
const responses = {
  topP: { top_p: 0.5 },
  seed: "does not support seed",
  stop: "does not support stop",
  required: { tool_choice: "required" },
  tool: { tool_choice: { type: "function", name: "open" } },
};
const messages = {
  topP: { top_p: 0.5 },
  seed: "does not support seed",
  stop: { stop_sequences: ["END"] },
  required: { tool_choice: { type: "any" } },
  tool: { tool_choice: { type: "tool", name: "open" } },
};
const functions = (config: object) => ({ toolConfig: { functionCallingConfig: config } });

const wires: readonly Wire[] = [
  { model: "anthropic/claude-sonnet-4-5", env: "ANTHROPIC", gets: messages },
  { model: "openai/gpt-4.1", env: "OPENAI", gets: responses },
  { model: "openai/gpt-5", env: "OPENAI", gets: { ...responses, topP: "does not support topP" } },
  { model: "openai-chat/gpt-4.1", env: "OPENAI", gets: chat },
  {
    model: "google/gemini-2.5-flash",
    env: "GOOGLE_GENERATIVE_AI",
    gets: {
      topP: { generationConfig: { topP: 0.5 } },
      seed: { generationConfig: { seed: 7 } },
      stop: { generationConfig: { stopSequences: ["END"] } },
      required: functions({ mode: "ANY" }),
      tool: functions({ mode: "ANY", allowedFunctionNames: ["open"] }),
    },
  },
  {
    model: "mistral/mistral-medium-latest",
    env: "MISTRAL",
    gets: { ...chat, seed: { random_seed: 7 }, required: { tool_choice: "any" } },
  },
  { model: "xai/grok-4.5", env: "XAI", gets: { ...responses, seed: { seed: 7 } } },
  { model: "groq/openai/gpt-oss-120b", env: "GROQ", gets: chat },
  { model: "deepseek/deepseek-chat", env: "DEEPSEEK", gets: { ...chat, seed: "does not support seed" } },
  { model: "openrouter/anthropic/claude-sonnet-5", env: "OPENROUTER", gets: chat },
  { model: "azure/gpt-4.1", env: "AZURE", gets: responses },
  {
    model: "amazon-bedrock/amazon.nova-pro-v1:0",
    env: "AMAZON_BEDROCK",
    gets: {
      topP: { inferenceConfig: { topP: 0.5 } },
      seed: "does not support seed",
      stop: { inferenceConfig: { stopSequences: ["END"] } },
      required: { toolConfig: { toolChoice: { any: {} } } },
      tool: { toolConfig: { toolChoice: { tool: { name: "open" } } } },
    },
  },
  { model: "openai-compatible/m", env: "OPENAI_COMPATIBLE", gets: chat },
  {
    model: "ollama/m",
    bare: true,
    env: "OLLAMA",
    gets: {
      topP: { options: { top_p: 0.5 } },
      seed: { options: { seed: 7 } },
      stop: { options: { stop: ["END"] } },
      required: "cannot be forced to call a tool",
      tool: "cannot be forced to call a tool",
    },
  },
  { model: "lmstudio/m", env: "LMSTUDIO", gets: chat },
  { model: "llamacpp/m", env: "LLAMACPP", gets: chat },
  { model: "vllm/m", env: "VLLM", gets: chat },
];

function open({ model, env, bare }: Wire): Promise<ModelDriver> {
  const at = bare ? server.baseURL.replace("/v1", "/") : server.baseURL;
  const address = { [`${env}_BASE_URL`]: at, [`${env}_API_KEY`]: "k" };
  return resolveModel(model, { env: { ...address, AWS_REGION: "eu-west-1", AWS_BEARER_TOKEN_BEDROCK: "k" } });
}

/** Returns the error of a request. The server never answers, so a request that was sent breaks off. */
async function errorOf(wire: Wire, request: Partial<ModelRequest>): Promise<ModelError> {
  const error: unknown = await answerOf(await open(wire), say("Hi", request)).catch((error: unknown) => error);
  if (error instanceof ModelError) return error;
  throw error;
}

describe.each(wires)("$model", (wire) => {
  test.each(Object.keys(asked) as Name[])("L6: %s is on the wire, or refused", async (name) => {
    const error = await errorOf(wire, asked[name]);
    const gets = wire.gets[name];
    if (typeof gets === "string") {
      expect(error).toMatchObject({ code: "invalid-request", message: expect.stringContaining(gets) });
      expect(error.message).toMatch(/leave (it|out)/);
    } else {
      expect(error).toMatchObject({ code: "broken-stream" });
      expect(bodies.at(-1)).toMatchObject(gets);
    }
  });
});

test("L6: the settings change only requests that have them", async () => {
  for (const wire of wires) await errorOf(wire, { tools });
  expect(JSON.stringify(bodies)).not.toMatch(/top_?p|seed|stop_?seq|"stop"|"required"|"any"/i);
});

test("L6: a setting that requires another setting is refused with the reason", async () => {
  const settings: ModelSettings = { topP: 0.5, temperature: 1 };
  const [anthropic] = wires as readonly [Wire];
  const error = await errorOf(anthropic, { settings });
  expect(error.message).toContain("does not support topP; leave it out, or use another model");
  expect(error.message).toContain("temperature is set");
  // The package's refusal costs no request.
  expect(bodies).toEqual([]);
});

test("L6: a response that ends at a stop text is complete", async () => {
  const message = { type: "message", role: "assistant", id: "m", model: "m", content: [], usage: { input_tokens: 1 } };
  const events = [
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "One." } },
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: "stop_sequence", stop_sequence: "END" },
      usage: { output_tokens: 2 },
    },
    { type: "message_stop" },
  ];
  await using stopping = await serve(async (request, reply) => {
    if (request.url?.endsWith("/messages") !== true)
      return streamed(reply, chunk({ content: "One." }), chunk({}, "stop"));
    reply.writeHead(200, { "content-type": "text/event-stream" });
    return reply.end(events.map((event) => `event: ${event.type}\n${eventOf(event)}`).join(""));
  });
  for (const [name, key] of [
    ["anthropic/claude-sonnet-4-5", "ANTHROPIC"],
    ["openai-compatible/m", "OPENAI_COMPATIBLE"],
  ]) {
    const env = { [`${key}_BASE_URL`]: stopping.baseURL, [`${key}_API_KEY`]: "k" };
    const agent = new Agent({ model: await resolveModel(String(name), { env }), settings: { stop: ["END"] } });
    expect(await agent.send("Count.")).toMatchObject({
      reason: "answered",
      text: "One.",
      steps: 1,
      message: { finish: "stop" },
    });
  }
});
