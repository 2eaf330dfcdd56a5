import { execFile } from "node:child_process";
import type { IncomingHttpHeaders } from "node:http";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Agent, TurnError } from "@banyan/core";
import { describe, expect, test } from "vitest";
import { resolveModel } from "./resolve.ts";
import { asksWindow, bodyOf, serve } from "./testing/server.ts";

interface Asked {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
}

/** The first request of a model for an agent. */
async function firstRequest(name: string, env: (address: string) => Record<string, string>): Promise<Asked> {
  const asked = Promise.withResolvers<Asked>();
  await using server = await serve(async (request, response) => {
    if (asksWindow(request)) {
      response.writeHead(404).end();
      return;
    }
    asked.resolve({ url: request.url ?? "", headers: request.headers, body: JSON.parse(await bodyOf(request)) });
    response.writeHead(400, { "content-type": "application/json" }).end('{"error":{"message":"enough"}}');
  });
  const model = await resolveModel(name, { env: env(server.baseURL.replace(/\/v1$/, "")) });
  const failure = new Agent({ model }).send("Hello").catch((error: unknown) => error);
  const [request, error] = await Promise.all([asked.promise, failure]);
  expect(error).toBeInstanceOf(TurnError);
  return request;
}

describe("each provider is asked in its place, with its key", () => {
  const bearer = { authorization: "Bearer test-key" };
  test.each([
    ["anthropic/m", "ANTHROPIC", "/v1/messages", { "x-api-key": "test-key" }],
    ["openai/m", "OPENAI", "/v1/responses", bearer],
    ["openai-chat/m", "OPENAI", "/v1/chat/completions", bearer],
    [
      "google/m",
      "GOOGLE_GENERATIVE_AI",
      "/v1beta/models/m:streamGenerateContent?alt=sse",
      { "x-goog-api-key": "test-key" },
    ],
    ["mistral/m", "MISTRAL", "/v1/chat/completions", bearer],
    ["xai/m", "XAI", "/v1/responses", bearer],
    ["groq/openai/m", "GROQ", "/openai/v1/chat/completions", bearer],
    ["deepseek/m", "DEEPSEEK", "/chat/completions", bearer],
    ["openrouter/meta/m:free", "OPENROUTER", "/api/v1/chat/completions", bearer],
    ["ollama/m", "OLLAMA", "/v1/chat/completions", bearer],
  ])("%s, at an address without a path and at one with its own", async (name, prefix, path, headers) => {
    const env = (ending: string) => (address: string) => ({
      [`${prefix}_API_KEY`]: "test-key",
      [`${prefix}_BASE_URL`]: `${address}${ending}`,
    });
    for (const ending of ["", "/"]) {
      const asked = await firstRequest(name, env(ending));
      expect(asked.url).toBe(path);
      expect(asked.headers).toMatchObject(headers);
    }
    const version = /^(\/[a-z]+)?\/v1(beta)?(?=\/)/.exec(path)?.[0] ?? "";
    const own = await firstRequest(name, env(`/gateway${version}/`));
    expect(own.url).toBe(`/gateway${path}`);
  });

  test("azure, by its address", async () => {
    const asked = await firstRequest("azure/my-deployment", (address) => ({
      AZURE_API_KEY: "test-key",
      AZURE_BASE_URL: `${address}/openai/v1`,
    }));
    expect(asked).toMatchObject({
      url: "/openai/v1/responses",
      headers: { "api-key": "test-key" },
      body: { model: "my-deployment" },
    });
  });

  const bedrock = (more: Record<string, string>) => (address: string) => ({
    AWS_REGION: "eu-west-1",
    AMAZON_BEDROCK_BASE_URL: address,
    ...more,
  });

  test("amazon-bedrock, with its key", async () => {
    const asked = await firstRequest(
      "amazon-bedrock/amazon.nova-v1:0",
      bedrock({ AWS_BEARER_TOKEN_BEDROCK: "test-key" }),
    );
    expect(asked).toMatchObject({
      url: `/model/${encodeURIComponent("amazon.nova-v1:0")}/converse-stream`,
      headers: bearer,
    });
  });

  test("amazon-bedrock, with credentials: the request is signed for the region", async () => {
    const credentials = {
      AWS_ACCESS_KEY_ID: "AKIATEST",
      AWS_SECRET_ACCESS_KEY: "secret",
      AWS_SESSION_TOKEN: "session",
    };
    const { headers } = await firstRequest("amazon-bedrock/amazon.nova-v1:0", bedrock(credentials));
    expect(headers.authorization).toMatch(/^AWS4-HMAC-SHA256 Credential=AKIATEST\/\d+\/eu-west-1\/bedrock\//);
    expect(headers["x-amz-security-token"]).toBe("session");
  });
});

describe("an effort in the name", () => {
  const env = (address: string) => ({
    OPENAI_API_KEY: "k",
    OPENAI_BASE_URL: address,
    ANTHROPIC_API_KEY: "k",
    ANTHROPIC_BASE_URL: address,
    GOOGLE_GENERATIVE_AI_API_KEY: "k",
    GOOGLE_GENERATIVE_AI_BASE_URL: address,
  });

  test.each([
    ["openai-chat/gpt-5:low", { model: "gpt-5", reasoning_effort: "low" }],
    ["openai/gpt-5:high", { model: "gpt-5", reasoning: { effort: "high" } }],
    ["google/gemini-3.5-flash:low", { generationConfig: { thinkingConfig: { thinkingLevel: "low" } } }],
  ])("reaches the request: %s", async (name, body) => {
    expect((await firstRequest(name, env)).body).toMatchObject(body);
  });

  test("reaches the request: anthropic", async () => {
    const { body } = await firstRequest("anthropic/claude-sonnet-5:low", env);
    expect(body.model).toBe("claude-sonnet-5");
    expect(JSON.stringify(body)).toContain('"low"');
  });

  test("is part of the driver's id; a driver with another effort is another", async () => {
    const keys = env("http://127.0.0.1:9");
    const high = await resolveModel("gpt:high", { env: keys });
    expect(high).toMatchObject({ id: "openai/gpt-5.4:high", settings: { effort: "high" } });
    expect(await resolveModel("openai/gpt-5.4:high", { env: keys })).toBe(high);
    expect(await resolveModel("gpt", { env: keys })).not.toHaveProperty("settings");
  });
});

test("aliases and overrides of the user's are taken", async () => {
  const options = {
    env: { OPENAI_API_KEY: "k" },
    aliases: { quick: "openai/gpt-5.4-mini:low" },
    overrides: { "openai/gpt-5.4-mini": { price: { input: 1, output: 2 }, contextSize: 99 } },
  };
  expect(await resolveModel("quick", options)).toMatchObject({
    id: "openai/gpt-5.4-mini:low",
    price: { input: 1, output: 2 },
    contextSize: 99,
    settings: { effort: "low" },
  });
  const without = await resolveModel("openai/gpt-5.4-mini", { env: options.env });
  expect(without.price).not.toEqual({ input: 1, output: 2 });
});

test("strict schemas: OpenAI gets the order to leave the schemas unchanged", async () => {
  const asked = Promise.withResolvers<{ tools: unknown[] }>();
  await using server = await serve(async (request, response) => {
    asked.resolve(JSON.parse(await bodyOf(request)));
    response.writeHead(400).end();
  });
  const model = await resolveModel("openai/gpt-5", { env: { OPENAI_API_KEY: "k", OPENAI_BASE_URL: server.baseURL } });
  const tool = {
    name: "look",
    description: "",
    input: { type: "object" },
    effects: "none",
    execute: () => "",
  } as const;
  await new Agent({ model, tools: [tool] }).send("Hello").catch(() => {});
  expect((await asked.promise).tools).toMatchObject([{ name: "look", strict: false }]);
});

test.each([
  ["http://api.openai.com", "max_completion_tokens"],
  ["http://models.example", "max_tokens"],
])("the package too sends %s the limit of an answer as %s", async (address, field) => {
  const sent = Promise.withResolvers<Record<string, unknown>>();
  // A proxy between this machine and any address.
  await using proxy = await serve(async (request, response) => {
    sent.resolve(JSON.parse(await bodyOf(request)));
    response.writeHead(400).end("{}");
  });
  const name = "openai-chat/gpt-5";
  const env = { OPENAI_API_KEY: "k", OPENAI_BASE_URL: address, HTTP_PROXY: new URL(proxy.baseURL).origin };
  const model = await resolveModel(name, { env, overrides: { [name]: { driver: "package" } } });
  await new Agent({ model, settings: { maxTokens: 9 } }).send("Hello").catch(() => {});
  const body = await sent.promise;
  expect(Object.entries(body).filter(([key]) => key.startsWith("max_"))).toEqual([[field, 9]]);
});

test("no driver is loaded before a model of its provider is used", async () => {
  const program = `
    import { registerHooks } from "node:module";
    const loaded = new Set();
    registerHooks({ load(url, context, next) {
      const found = /node_modules\\/(@ai-sdk\\/[\\w-]+|undici|@pydantic\\/[\\w-]+)\\//.exec(url);
      if (found) loaded.add(found[1]);
      return next(url, context);
    } });
    const { resolveModel } = await import("@banyan/models");
    const before = [...loaded];
    await resolveModel("mistral/m", { env: { MISTRAL_API_KEY: "k" } });
    const after = [...loaded].filter((name) => !["@ai-sdk/provider", "@ai-sdk/provider-utils"].includes(name));
    console.log(JSON.stringify({ before, after }));
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], {
    cwd: fileURLToPath(new URL("..", import.meta.url)),
  });
  const { before, after } = JSON.parse(stdout) as { before: string[]; after: string[] };
  expect(before).toEqual([]);
  expect(after.sort()).toEqual(["@ai-sdk/mistral", "@pydantic/genai-prices"]);
});
