import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { embeddingModel } from "./embedding.ts";
import { bodyOf, serve } from "./testing/server.ts";

describe("an embedding model by name", () => {
  const mock = new LLMock({ port: 0, logLevel: "silent" });
  beforeAll(async () => {
    mock.onEmbedding(/banyan/, { embedding: [1, 0] });
    await mock.start();
  });
  afterAll(() => mock.stop());

  test.each(["openai/text-embedding-3-small", "openai-compatible/nomic-embed-text", "google/gemini-embedding-001"])(
    "%s makes vectors through its provider's own endpoint",
    async (name) => {
      const model = embeddingModel(name, {
        env: {
          OPENAI_API_KEY: "k",
          OPENAI_BASE_URL: mock.url,
          OPENAI_COMPATIBLE_BASE_URL: `${mock.url}/v1`,
          GOOGLE_GENERATIVE_AI_API_KEY: "k",
          GOOGLE_GENERATIVE_AI_BASE_URL: mock.url,
        },
      });
      expect(`${model.provider}/${model.modelId}`).toBe(name);
      expect(await model.maxEmbeddingsPerCall).toBeGreaterThan(1);
      expect((await model.doEmbed({ values: ["A banyan is a tree."] })).embeddings).toEqual([[1, 0]]);
      expect(mock.getLastRequest()?.path).toMatch(/embed/i);
    },
  );
});

test("a server without a key is sent none, not that of OpenAI either", async () => {
  const asked = Promise.withResolvers<{ authorization: string | undefined; body: unknown }>();
  await using server = await serve(async (request, response) => {
    asked.resolve({ authorization: request.headers.authorization, body: JSON.parse(await bodyOf(request)) });
    response.setHeader("content-type", "application/json").end('{"data":[{"index":0,"embedding":[0.5]}]}');
  });
  const env = { OPENAI_API_KEY: "not-for-others", OLLAMA_BASE_URL: server.baseURL };
  const before = process.env.OPENAI_API_KEY;
  process.env.OPENAI_API_KEY = "nor-this";
  try {
    await embeddingModel("mine", { env, aliases: { mine: "ollama/nomic" } }).doEmbed({ values: ["a"] });
  } finally {
    if (before === undefined) delete process.env.OPENAI_API_KEY;
    else process.env.OPENAI_API_KEY = before;
  }
  const { authorization, body } = await asked.promise;
  expect(authorization).toBeUndefined();
  expect(body).toMatchObject({ model: "nomic", input: ["a"] });
});

test.each<[string, string, string]>([
  ["anthropic/claude-sonnet-5", "no-embeddings", "anthropic has no embedding models. Name one of openai,"],
  ["demo/offline", "no-embeddings", "demo has no embedding models"],
  ["openai/text-embedding-3-small", "missing-key", "Set OPENAI_API_KEY"],
  ["ollama/nomic:high", "malformed-name", "names an effort"],
  ["nomic", "malformed-name", "provider/model"],
])("%s is refused at once: %s", (name, code, message) => {
  expect(() => embeddingModel(name, { env: {} })).toThrow(expect.objectContaining({ code }));
  expect(() => embeddingModel(name, { env: {} })).toThrow(message);
});
