import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { chooseModel } from "./choose.ts";
import { ModelChoiceError } from "./provider/model-choice-error.ts";
import { resolveModel } from "./resolve.ts";
import { asksWindow, chunk, serve, streamed } from "./testing/server.ts";
import { answerOf, say } from "./testing/sink.ts";

async function refusal(name: string, env: Record<string, string> = {}): Promise<ModelChoiceError> {
  const error = await resolveModel(name, { env }).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ModelChoiceError);
  return error as ModelChoiceError;
}

describe("names", () => {
  test("a mistyped provider is refused with the nearest names and the form", async () => {
    const error = await refusal("antropic/claude-sonnet-5");
    expect(error.code).toBe("unknown-provider");
    expect(error.message).toContain("anthropic/claude-sonnet-5");
    expect(error.message).toContain("provider/model");
  });

  test("the error for an unknown provider lists the known ones", async () => {
    const { message } = await refusal("zzzzzz/m");
    expect(message).not.toContain("Did you mean");
    for (const name of [
      "anthropic",
      "openai",
      "openai-chat",
      "openai-compatible",
      "ollama",
      "lmstudio",
      "llamacpp",
      "vllm",
    ]) {
      expect(message).toContain(name);
    }
  });

  test.each(["", "gpt-4o", "/gpt-4o", "nobody/", "openai", "openai/"])("%j is not a name", async (name) => {
    const error = await refusal(name, { OPENAI_API_KEY: "k" });
    expect(error.code).toBe("malformed-name");
    expect(error.message).toContain("provider/model");
  });

  test("a model's own name may hold slashes and colons", async () => {
    const env = { OPENAI_COMPATIBLE_BASE_URL: "http://127.0.0.1:9/v1" };
    expect((await resolveModel("openai-compatible/meta/llama-3:8b", { env })).id).toBe(
      "openai-compatible/meta/llama-3:8b",
    );
  });

  test("the demo has one model", async () => {
    expect((await resolveModel("demo/offline", { env: {} })).id).toBe("demo/offline");
    expect((await refusal("demo/online")).message).toContain("demo/offline");
  });
});

describe("keys and addresses", () => {
  test.each([
    ["anthropic/m", "ANTHROPIC_API_KEY"],
    ["openai/m", "OPENAI_API_KEY"],
    ["openai-chat/m", "OPENAI_API_KEY"],
  ])("without its key, %s is refused by the name of the variable", async (name, variable) => {
    for (const env of [{}, { [variable]: " " }] as Record<string, string>[]) {
      const error = await refusal(name, env);
      expect(error.code).toBe("missing-key");
      expect(error.message).toContain(variable);
    }
  });

  test("without its address, openai-compatible is refused by the name of the variable", async () => {
    const error = await refusal("openai-compatible/m");
    expect(error.code).toBe("missing-address");
    expect(error.message).toContain("OPENAI_COMPATIBLE_BASE_URL");
  });

  test("the error for an invalid address names the variable", async () => {
    const error = await refusal("ollama/m", { OLLAMA_BASE_URL: "localhost:11434" });
    expect(error.code).toBe("malformed-address");
    expect(error.message).toContain("OLLAMA_BASE_URL");
  });

  test.each([
    ["openai-compatible", { OPENAI_COMPATIBLE_API_KEY: "k1" }, "Bearer k1"],
    ["openai-compatible", {}, undefined],
    ["ollama", {}, undefined],
    ["lmstudio", {}, undefined],
    ["llamacpp", {}, undefined],
    ["vllm", { VLLM_API_KEY: "k2" }, "Bearer k2"],
  ])("%s asks the address of its variable, with the key that %j gives", async (provider, keys, authorization) => {
    const seen = Promise.withResolvers<unknown>();
    await using server = await serve((request, response) => {
      if (asksWindow(request)) {
        response.writeHead(404).end();
        return;
      }
      seen.resolve([request.url, request.headers.authorization]);
      streamed(response, chunk({ content: "Hi" }, "stop"), "[DONE]");
    });
    const variable = `${provider.toUpperCase().replaceAll("-", "_")}_BASE_URL`;
    const driver = await resolveModel(`${provider}/m`, { env: { ...keys, [variable]: `${server.baseURL}/` } });
    expect((await answerOf(driver, say("x")))[0]).toEqual({ type: "text", text: "Hi" });
    expect(await seen.promise).toEqual(["/v1/chat/completions", authorization]);
  });
});

test("without an environment, that of the process counts", async () => {
  try {
    vi.stubEnv("ANTHROPIC_API_KEY", "k");
    const driver = await resolveModel("anthropic/claude-sonnet-5");
    expect(driver.id).toBe("anthropic/claude-sonnet-5");
    expect(await resolveModel("anthropic/claude-sonnet-5", { overrides: {} })).toBe(driver);
    expect((await chooseModel()).name).toMatch(/^anthropic\//);
    vi.stubEnv("ANTHROPIC_API_KEY", undefined);
    await expect(resolveModel("anthropic/claude-sonnet-5")).rejects.toMatchObject({ code: "missing-key" });
  } finally {
    vi.unstubAllEnvs();
  }
});

describe("facts about a model", () => {
  test("prices of hosted models come from the catalogue", async () => {
    const env = { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k" };
    for (const name of ["openai/gpt-4o", "openai-chat/gpt-4o"]) {
      expect(await resolveModel(name, { env })).toMatchObject({
        id: name,
        price: { input: 2.5, output: 10 },
        contextSize: 128_000,
      });
    }
    expect(await resolveModel("anthropic/claude-sonnet-4-5", { env })).toMatchObject({
      price: { input: 3, output: 15 },
    });
  });

  test("an unknown price is unknown, and a local answer costs nothing", async () => {
    const env = { OPENAI_API_KEY: "k", OPENAI_COMPATIBLE_BASE_URL: "http://127.0.0.1:9/v1" };
    expect(await resolveModel("openai-chat/no-such-model", { env })).not.toHaveProperty("price");
    expect(await resolveModel("openai-compatible/gpt-4o", { env })).not.toHaveProperty("price");
    expect(await resolveModel("ollama/gpt-4o", { env })).toMatchObject({ price: { input: 0, output: 0 } });
  });
});

test.each([
  ["anthropic/claude-sonnet-5", "anthropic-messages"],
  ["openai-chat/gpt-4o", "openai-chat"],
  ["openrouter/meta/llama", "openai-chat"],
  ["ollama/qwen3:8b", "openai-chat"],
  ["openai/gpt-5", "openai-responses"],
])(
  "%s has the driver %s, and a setting goes back to its provider's package, for that model alone",
  async (name, own) => {
    const env = { ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k", OPENROUTER_API_KEY: "k" };
    const overrides = { [name]: { driver: "package", contextSize: 99 } } as const;
    expect(await resolveModel(name, { env })).toMatchObject({ family: own });
    const back = await resolveModel(`${name}:high`, { env, overrides });
    expect(back).toMatchObject({ id: `${name}:high`, family: "language-model", contextSize: 99 });
    expect(back).not.toHaveProperty("driver");
    expect(await resolveModel(`${name}-2`, { env, overrides })).toMatchObject({ family: own });
  },
);

test("the same environment gives the same driver, until its values change", async () => {
  const env: Record<string, string> = { OPENAI_API_KEY: "k" };
  const driver = await resolveModel("openai/gpt-4o", { env });
  expect(await resolveModel("openai/gpt-4o", { env })).toBe(driver);
  expect(await resolveModel("openai-chat/gpt-4o", { env })).not.toBe(driver);
  env.OPENAI_API_KEY = "k2";
  expect(await resolveModel("openai/gpt-4o", { env })).not.toBe(driver);
});

describe("each hosted provider speaks its own format", () => {
  const mock = new LLMock({ port: 0 });
  beforeAll(async () => {
    mock.onMessage("hello", { content: "Hi there!" });
    await mock.start();
  });
  afterAll(() => mock.stop());

  test.each([
    ["openai/gpt-4o", "/v1", "/v1/responses"],
    ["openai/gpt-4o", "/v1/", "/v1/responses"],
    ["openai-chat/gpt-4o", "/v1", "/v1/chat/completions"],
    ["anthropic/claude-sonnet-4-5", "", "/v1/messages"],
    ["anthropic/claude-sonnet-4-5", "/", "/v1/messages"],
    ["anthropic/claude-sonnet-4-5", "/v1", "/v1/messages"],
    ["anthropic/claude-sonnet-4-5", "/v1/", "/v1/messages"],
  ])("%s at an address that ends with %j asks %s", async (name, ending, path) => {
    const baseURL = `${mock.url}${ending}`;
    const env = { OPENAI_API_KEY: "k", OPENAI_BASE_URL: baseURL, ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: baseURL };
    const answer = await answerOf(await resolveModel(name, { env }), say("hello"));
    expect(answer.find((part) => part.type === "text")).toMatchObject({ text: "Hi there!" });
    expect(mock.getLastRequest()?.path).toBe(path);
  });
});
