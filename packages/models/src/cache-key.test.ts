import { Agent, type ModelSettings } from "@banyan/core";
import { expect, test } from "vitest";
import { anthropic } from "./entry/anthropic.ts";
import { azure } from "./entry/azure.ts";
import { mistral } from "./entry/mistral.ts";
import { openai } from "./entry/openai.ts";
import { openaiCompatible } from "./entry/openai-compatible.ts";
import { xai } from "./entry/xai.ts";
import type { ModelFunction } from "./provider/model-function.ts";

type Body = Readonly<Record<string, unknown>>;

/** Returns the bodies of the requests for one turn. The server refuses the first with these words. */
async function bodiesOf(create: ModelFunction, baseURL: string, settings: ModelSettings, words = "enough") {
  const bodies: Body[] = [];
  const fetch: typeof globalThis.fetch = async (_, init) => {
    bodies.push(JSON.parse(String(init?.body instanceof Uint8Array ? Buffer.from(init.body) : init?.body)));
    const error = { message: bodies.length === 1 ? words : "enough", type: "invalid_request_error" };
    return new Response(JSON.stringify({ error }), { status: 400, headers: { "content-type": "application/json" } });
  };
  const model = create("m", { apiKey: "key", baseURL, fetch });
  await new Agent({ model, settings }).send("Hello").catch(() => {});
  return bodies;
}

const keyIn = ([body]: readonly Body[]) => body?.prompt_cache_key;

test.each<[string, ModelFunction, string]>([
  ["openai", openai, "https://api.openai.com/v1"],
  ["openai", openai, "https://gateway.example.org/v1"],
  ["azure", azure, "https://gateway.example/azure"],
  ["xai", xai, "https://api.x.ai/v1"],
  ["mistral", mistral, "https://api.mistral.ai/v1"],
])("V5: %s gets the cache key, and its own option wins", async (name, create, address) => {
  expect(keyIn(await bodiesOf(create, address, { cacheKey: "guide" }))).toBe("guide");
  const own = { cacheKey: "guide", providerOptions: { [name]: { promptCacheKey: "mine" } } };
  expect(keyIn(await bodiesOf(create, address, own))).toBe("mine");
  expect(keyIn(await bodiesOf(create, address, {}))).toBeUndefined();
});

test("V5: the chat format has the cache key at OpenAI only, where the user's own option wins", async () => {
  const bodyAt = async (address: string, settings: ModelSettings) =>
    (await bodiesOf(openaiCompatible, address, settings))[0] ?? {};
  const settings = { cacheKey: "guide" };
  expect(await bodyAt("https://api.openai.com/v1", settings)).toMatchObject({ prompt_cache_key: "guide" });
  expect(await bodyAt("https://eu.api.openai.com/v1", settings)).toMatchObject({ prompt_cache_key: "guide" });
  const own = { ...settings, providerOptions: { "openai-compatible": { prompt_cache_key: "mine" } } };
  expect(await bodyAt("https://api.openai.com/v1", own)).toMatchObject({ prompt_cache_key: "mine" });
  for (const address of ["https://openai.com.example.org/v1", "http://127.0.0.1:9/v1"]) {
    expect(Object.keys(await bodyAt(address, settings))).not.toContain("prompt_cache_key");
  }
});

test("V5: other providers get no cache key", async () => {
  const bodies = await bodiesOf(anthropic, "https://api.anthropic.com/v1", { cacheKey: "guide" });
  expect(bodies).toHaveLength(1);
  expect(JSON.stringify(bodies)).not.toContain("guide");
});

test("V5: a server that refuses the cache key gets the request again without the key", async () => {
  const words = "Unknown parameter: 'prompt_cache_key'.";
  for (const [create, address] of [
    [openai, "https://gateway.example.org/v1"],
    [openaiCompatible, "https://api.openai.com/v1"],
  ] as const) {
    const keys = (await bodiesOf(create, address, { cacheKey: "guide" }, words)).map((body) => keyIn([body]));
    expect(keys).toEqual(["guide", undefined]);
  }
});

test("V6: only OpenAI is asked for a stream without obfuscation", async () => {
  const optionsAt = async (address: string) => (await bodiesOf(openaiCompatible, address, {}))[0]?.stream_options;
  expect(await optionsAt("https://api.openai.com/v1")).toEqual({ include_usage: true, include_obfuscation: false });
  expect(await optionsAt("https://gateway.example.org/v1")).toEqual({ include_usage: true });
});
