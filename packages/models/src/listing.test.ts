import { beforeEach, describe, expect, test } from "vitest";
import { demoModel } from "./demo/model.ts";
import { listModels, listProviders, type ProviderStatus } from "./listing.ts";
import { beForbearing, nobody } from "./local-servers.fixture.ts";
import { ModelChoiceError } from "./provider/model-choice-error.ts";
import { providers } from "./providers.ts";
import { serve } from "./testing/server.ts";

async function statusOf(name: string, env: Record<string, string>): Promise<ProviderStatus> {
  const status = (await listProviders({ env })).find((provider) => provider.name === name);
  if (!status) throw new Error(`There is no provider ${name}.`);
  return status;
}

function listing(...models: readonly string[]) {
  return serve((request, response) => {
    if (request.url === "/v1/models") response.end(JSON.stringify({ data: models.map((id) => ({ id })) }));
    else response.writeHead(404).end();
  });
}

describe("B65: the list of providers", () => {
  beforeEach(beForbearing);

  test("has every provider, in the order of the choice, and asks no hosted one", async () => {
    const all = await listProviders({ env: await nobody() });
    expect(all.map(({ name }) => name)).toEqual(providers.map(({ name }) => name));
    expect(all.filter(({ usable }) => usable).map(({ name }) => name)).toEqual(["demo"]);
  });

  test.each([
    ["anthropic", {}, "anthropic needs a key. Set ANTHROPIC_API_KEY to your key."],
    ["google", {}, "google needs a key. Set GOOGLE_GENERATIVE_AI_API_KEY to your key."],
    ["azure", { AZURE_API_KEY: "k" }, "azure needs an address. Set AZURE_RESOURCE_NAME, or AZURE_BASE_URL."],
    [
      "amazon-bedrock",
      { AWS_REGION: "eu-west-1" },
      "amazon-bedrock needs credentials. Set AWS_REGION and AWS_BEARER_TOKEN_BEDROCK, or AWS_REGION, AWS_ACCESS_KEY_ID, and AWS_SECRET_ACCESS_KEY.",
    ],
    [
      "openai-compatible",
      {},
      "openai-compatible needs the address of its server. Set OPENAI_COMPATIBLE_BASE_URL, for example to http://127.0.0.1:8080/v1.",
    ],
    [
      "openai",
      { OPENAI_API_KEY: "k", OPENAI_BASE_URL: "nowhere" },
      '"nowhere" in OPENAI_BASE_URL is not an address. Write it like http://127.0.0.1:8080/v1.',
    ],
  ])("says that the variable %s is missing", async (name, env, reason) => {
    expect(await statusOf(name, { ...(await nobody()), ...env })).toMatchObject({ usable: false, reason });
  });

  test.each([
    ["anthropic", { ANTHROPIC_API_KEY: "k" }, "ANTHROPIC_API_KEY is set.", "anthropic/claude-sonnet-5"],
    ["openai-chat", { OPENAI_API_KEY: "k" }, "OPENAI_API_KEY is set.", undefined],
    ["azure", { AZURE_API_KEY: "k", AZURE_RESOURCE_NAME: "r" }, "AZURE_API_KEY is set.", undefined],
    [
      "amazon-bedrock",
      { AWS_REGION: "eu-west-1", AWS_BEARER_TOKEN_BEDROCK: "k" },
      "AWS_REGION and AWS_BEARER_TOKEN_BEDROCK are set.",
      undefined,
    ],
    ["demo", {}, "The demo follows fixed rules, without a language model.", undefined],
  ])("says why %s is usable, and names its default model", async (name, env, reason, defaultModel) => {
    const status = await statusOf(name, { ...(await nobody()), ...env });
    expect(status).toMatchObject({ usable: true, reason });
    expect(status.defaultModel).toBe(defaultModel);
  });

  test("gives the number of models in the catalogue, and the models of a server", async () => {
    await using server = await listing("qwen3:8b", "gemma");
    const env = { ...(await nobody()), OLLAMA_BASE_URL: server.baseURL, OPENAI_COMPATIBLE_BASE_URL: server.baseURL };
    expect((await statusOf("anthropic", env)).known).toBe((await listModels("anthropic")).length);
    expect((await statusOf("anthropic", env)).known).toBeGreaterThan(10);
    expect((await statusOf("anthropic", env)).price).toBeUndefined();
    expect((await statusOf("demo", env)).price).toEqual(demoModel().price);
    expect(await statusOf("ollama", env)).toEqual({
      name: "ollama",
      usable: true,
      reason: `A server answers at ${server.baseURL}.`,
      known: 0,
      price: { input: 0, output: 0 },
      models: ["ollama/qwen3:8b", "ollama/gemma"],
    });
    expect((await statusOf("openai-compatible", env)).models).toEqual([
      "openai-compatible/qwen3:8b",
      "openai-compatible/gemma",
    ]);
  });

  test("says that a server does not answer, or has no model", async () => {
    await using empty = await listing();
    await using vectors = await listing("nomic-embed-text:latest");
    const env = { ...(await nobody()), VLLM_BASE_URL: empty.baseURL, LLAMACPP_BASE_URL: vectors.baseURL };
    expect(await statusOf("ollama", env)).toMatchObject({
      usable: false,
      reason: "No server answers at the address in OLLAMA_BASE_URL.",
    });
    expect(await statusOf("vllm", env)).toMatchObject({
      usable: false,
      reason: `The server at ${empty.baseURL} has no chat model.`,
    });
    expect(await statusOf("llamacpp", env)).toMatchObject({ usable: false, models: [] });
  });

  test("BANYAN_NO_DISCOVERY=1 asks no local server", async () => {
    await using server = await listing("qwen3:8b");
    const env = { OLLAMA_BASE_URL: server.baseURL, BANYAN_NO_DISCOVERY: "1" };
    expect(await statusOf("ollama", env)).toMatchObject({
      usable: false,
      reason: expect.stringContaining("BANYAN_NO_DISCOVERY"),
    });
    expect(server.connections).toBe(0);
  });

  test("an abort ends it with its reason", async () => {
    await expect(listProviders({ env: await nobody(), signal: AbortSignal.abort("enough") })).rejects.toBe("enough");
  });
});

describe("the list of models", () => {
  test("has prices and context sizes, the user's first", async () => {
    const price = { input: 1, output: 2 };
    const models = await listModels("anthropic", { overrides: { "anthropic/claude-sonnet-5": { price } } });
    expect(models.find(({ name }) => name === "anthropic/claude-sonnet-5")).toEqual({
      name: "anthropic/claude-sonnet-5",
      price,
      contextSize: 1_000_000,
      sees: true,
    });
  });

  test("W64: says which models accept pictures, also for servers' lists; the user's word precedes", async () => {
    const overrides = { "ollama/qwen3-coder": { sees: true } };
    const listed = ["ollama/llava:7b", "ollama/qwen3-coder", "ollama/gpt-oss:20b"];
    const models = await listModels("ollama", { overrides, listed });
    expect(models.map(({ name, sees, price }) => [name, sees, price?.input])).toEqual([
      ["ollama/gpt-oss:20b", false, 0],
      ["ollama/llava:7b", true, 0],
      ["ollama/qwen3-coder", true, 0],
    ]);
  });

  test("has chat models, and no models for vectors, pictures, sound or transcripts (T42)", async () => {
    const names = (await Promise.all(providers.map(({ name }) => listModels(name)))).flat().map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["openai/gpt-4o", "google/gemini-2.5-flash", "google/gemma-3"]));
    expect(names).toEqual(
      expect.arrayContaining(
        providers.flatMap(({ name, defaultModel }) => (defaultModel ? [`${name}/${defaultModel}`] : [])),
      ),
    );
    const others = /embed|whisper|moderation|realtime|transcribe|davinci|-(audio|image|live|ocr|tts)(-|$)/;
    expect(names.filter((name) => others.test(name))).toEqual([]);
  });

  test("keeps the user's facts about a model of any kind", async () => {
    const overrides = { "openai/text-embedding-3-small": { contextSize: 1 } };
    expect((await listModels("openai", { overrides })).map(({ name }) => name)).toContain(
      "openai/text-embedding-3-small",
    );
  });

  test("refuses an unknown provider", async () => {
    await expect(listModels("nobody")).rejects.toBeInstanceOf(ModelChoiceError);
  });
});
