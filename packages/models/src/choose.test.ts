import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { chooseModel } from "./choose.ts";
import { beForbearing, nobody } from "./local-servers.fixture.ts";
import { askLocalServer, localModelServers } from "./local-servers.ts";
import { providers } from "./providers.ts";
import { deadAddress, serve } from "./testing/server.ts";

const key = { ANTHROPIC_API_KEY: "a", OPENAI_API_KEY: "o" };

/** A server that lists these models. */
function listing(...models: readonly string[]) {
  return serve((request, response) => {
    const known = request.url === "/v1/models";
    response.writeHead(known ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify({ object: "list", data: models.map((id) => ({ id, object: "model" })) }));
  });
}

describe("B65: the model is", () => {
  beforeEach(beForbearing);

  test("the flag's, before everything else", async () => {
    const choice = await chooseModel({ flag: "ollama/a", setting: "ollama/b", env: key });
    expect(choice.name).toBe("ollama/a");
    expect(choice.reason).toContain("command line");
  });

  test("else the setting's", async () => {
    const choice = await chooseModel({ setting: "ollama/b", env: key });
    expect(choice.name).toBe("ollama/b");
    expect(choice.reason).toContain("settings");
  });

  test("else anthropic's, when its key is set", async () => {
    const { name, reason } = await chooseModel({ env: key });
    expect(name).toMatch(/^anthropic\/claude-/);
    expect(reason).toContain("ANTHROPIC_API_KEY");
  });

  test("else openai's, when its key is set", async () => {
    const { name, reason } = await chooseModel({ env: { ANTHROPIC_API_KEY: " ", OPENAI_API_KEY: "o" } });
    expect(name).toMatch(/^openai\/gpt-/);
    expect(reason).toContain("OPENAI_API_KEY");
  });

  test.each([
    ["GOOGLE_GENERATIVE_AI_API_KEY", "google/gemini-"],
    ["MISTRAL_API_KEY", "mistral/mistral-"],
    ["XAI_API_KEY", "xai/grok-"],
    ["GROQ_API_KEY", "groq/openai/"],
    ["DEEPSEEK_API_KEY", "deepseek/deepseek-"],
    ["OPENROUTER_API_KEY", "openrouter/anthropic/"],
  ])("else, by %s, %s...", async (variable, beginning) => {
    const { name, reason } = await chooseModel({ env: { [variable]: "k" } });
    expect(name).toContain(beginning);
    expect(reason).toContain(variable);
    expect((await chooseModel({ env: { ...key, [variable]: "k" } })).name).toMatch(/^anthropic\//);
  });

  test("not from a provider without a default model, whatever is set for it", async () => {
    const env = { ...(await nobody()), AZURE_API_KEY: "k", AZURE_RESOURCE_NAME: "r", AWS_BEARER_TOKEN_BEDROCK: "k" };
    expect((await chooseModel({ env })).name).toBe("demo/offline");
  });

  test("else the first that the openai-compatible server lists, when its address is set", async () => {
    await using server = await listing("meta/llama-3", "other");
    const { name, reason } = await chooseModel({ env: { OPENAI_COMPATIBLE_BASE_URL: `${server.baseURL}/` } });
    expect(name).toBe("openai-compatible/meta/llama-3");
    expect(reason).toContain("OPENAI_COMPATIBLE_BASE_URL");
  });

  test("else the first of the first local server that has one", async () => {
    await using empty = await listing();
    await using lmstudio = await listing("text-embedding-nomic-embed-text-v1.5", "qwen:7b", "other");
    await using vllm = await listing("llama");
    const env = {
      ...(await nobody()),
      OLLAMA_BASE_URL: empty.baseURL,
      LMSTUDIO_BASE_URL: lmstudio.baseURL,
      VLLM_BASE_URL: vllm.baseURL,
    };
    const { name, reason } = await chooseModel({ env });
    expect(name).toBe("lmstudio/qwen:7b");
    expect(reason).toContain(lmstudio.baseURL);
  });

  test("the offline demo at last, and the reason names the way to a real model", async () => {
    const { name, reason } = await chooseModel({ env: await nobody() });
    expect(name).toBe("demo/offline");
    expect(reason).toContain("ANTHROPIC_API_KEY");
    expect(reason).toContain("no local server answers");
  });
});

test("an openai-compatible server that does not answer is skipped, and the reason names it", async () => {
  const env = { ...(await nobody()), OPENAI_COMPATIBLE_BASE_URL: await deadAddress() };
  const { name, reason } = await chooseModel({ env });
  expect(name).toBe("demo/offline");
  expect(reason).toContain("OPENAI_COMPATIBLE_BASE_URL");
});

test("BANYAN_NO_DISCOVERY=1 asks no local server", async () => {
  await using server = await listing("llama");
  const env = { ...(await nobody()), OLLAMA_BASE_URL: server.baseURL, BANYAN_NO_DISCOVERY: "1" };
  expect((await chooseModel({ env })).name).toBe("demo/offline");
  expect(server.connections).toBe(0);
});

test("a silent local server causes no wait", async () => {
  await using silent = await serve(() => {});
  expect(await localModelServers({ ...(await nobody()), OLLAMA_BASE_URL: silent.baseURL })).toEqual([]);
});

describe("local servers", () => {
  beforeEach(beForbearing);

  test("local servers that answer are listed with their models, in their order", async () => {
    await using vllm = await listing("llama");
    await using ollama = await listing("a:1", "b");
    const env = { ...(await nobody()), VLLM_BASE_URL: vllm.baseURL, OLLAMA_BASE_URL: ollama.baseURL };
    expect(await localModelServers(env)).toEqual([
      { provider: "ollama", address: ollama.baseURL, models: ["a:1", "b"] },
      { provider: "vllm", address: vllm.baseURL, models: ["llama"] },
    ]);
  });

  test("a server without models may return null", async () => {
    await using server = await serve((_, response) => response.end('{"object":"list","data":null}'));
    const env = { ...(await nobody()), OLLAMA_BASE_URL: server.baseURL };
    expect(await localModelServers(env)).toEqual([{ provider: "ollama", address: server.baseURL, models: [] }]);
  });

  test.each([
    [200, "<html></html>"],
    [200, '{"hello":1}'],
    [404, '{"data":[]}'],
    [401, "{}"],
  ])("another program at the port, which answers %i %s, is no server", async (status, body) => {
    await using server = await serve((_, response) => response.writeHead(status).end(body));
    expect(await localModelServers({ ...(await nobody()), LLAMACPP_BASE_URL: server.baseURL })).toEqual([]);
  });

  test("a server has 300 ms where it is guessed, and 3 seconds at an address that the user set", async () => {
    const timeout = vi.spyOn(AbortSignal, "timeout");
    onTestFinished(() => timeout.mockRestore());
    const { VLLM_BASE_URL: _, ...three } = await nobody();
    await localModelServers(three);
    expect(timeout.mock.calls).toEqual([[3000], [3000], [3000], [300]]);
  });

  test("an abort ends the search with its reason", async () => {
    const asked = Promise.withResolvers<void>();
    await using silent = await serve(() => asked.resolve());
    const abort = new AbortController();
    const [ollama] = providers.filter(({ name }) => name === "ollama");
    if (!ollama) throw new Error("There is no ollama.");
    const search = askLocalServer(ollama, { OLLAMA_BASE_URL: silent.baseURL }, abort.signal);
    await asked.promise;
    abort.abort(new Error("enough"));
    await expect(search).rejects.toThrow("enough");
    await expect(localModelServers(await nobody(), abort.signal)).rejects.toThrow("enough");
  });
});
