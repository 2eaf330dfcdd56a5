import type { IncomingHttpHeaders } from "node:http";
import { Agent, defineTool, Session } from "@banyan/core";
import { scriptedModel } from "@banyan/core/testing";
import { describe, expect, test } from "vitest";
import { resolveModel } from "./resolve.ts";
import { bodyOf, deadAddress, serve, type TestServer } from "./testing/server.ts";

const look = defineTool({
  name: "look",
  description: "Looks.",
  input: { type: "object", properties: { at: { type: "string" } } },
  effects: "none",
  execute: () => "seen",
});

interface Counted {
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A server that answers each request alike and records it. */
async function counting(answer: object, status = 200): Promise<TestServer & { readonly requests: Counted[] }> {
  const requests: Counted[] = [];
  const server = await serve(async (request, response) => {
    requests.push({ url: request.url, headers: request.headers, body: JSON.parse(await bodyOf(request)) });
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  return Object.assign(server, { requests });
}

const withoutPath = ({ baseURL }: TestServer) => baseURL.replace(/\/v1$/, "");
const claude = (url: string, more = {}) =>
  resolveModel("anthropic/claude-sonnet-4-5", { env: { ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: url }, ...more });
const gemini = (url: string, driver?: "package") =>
  resolveModel("google/gemini-3-flash", {
    env: { GOOGLE_GENERATIVE_AI_API_KEY: "key", GOOGLE_GENERATIVE_AI_BASE_URL: url },
    overrides: driver ? { "google/gemini-3-flash": { driver } } : {},
  });

/** A conversation with one turn. */
async function talked(): Promise<Session> {
  const session = Session.inMemory();
  await new Agent({ model: scriptedModel(["Trees."]) }).send("What grows?", { session });
  return session;
}

test("L6: the query of a gateway's address stays", async () => {
  await using server = await counting({ totalTokens: 7 });
  const agent = new Agent({ model: await gemini(`${server.baseURL}?team=forest`) });
  expect(await agent.countTokens("What grows?")).toEqual({ tokens: 7, source: "provider" });
  expect(server.requests[0]?.url).toBe("/v1/models/gemini-3-flash:countTokens?team=forest");
});

test("L6: Anthropic's endpoint counts instructions, tools, history and the new message, and gets no other field", async () => {
  await using server = await counting({ input_tokens: 321 });
  const session = await talked();
  const agent = new Agent({
    model: await claude(withoutPath(server)),
    instructions: "Be brief.",
    tools: [look],
    settings: { temperature: 0.5, maxTokens: 900 },
  });
  expect(await agent.countTokens("And where?", { session })).toEqual({ tokens: 321, source: "provider" });
  const [request] = server.requests;
  expect(request?.url).toBe("/v1/messages/count_tokens");
  expect(request?.headers).toMatchObject({ "x-api-key": "key", "anthropic-version": "2023-06-01" });
  expect(Object.keys(request?.body ?? {}).toSorted()).toEqual(["messages", "model", "system", "tool_choice", "tools"]);
  expect(JSON.stringify(request?.body)).toMatch(/What grows\?.*Trees\..*And where\?/);
  expect(server.requests).toHaveLength(1);
  // Nothing was written.
  expect(session.state.messages.size).toBe(2);
});

test.each([undefined, "package" as const])("L6: Google's endpoint counts the whole request: %s", async (driver) => {
  await using server = await counting({ totalTokens: 45 });
  const model = await gemini(withoutPath(server), driver);
  const agent = new Agent({ model, instructions: "Be brief.", tools: [look] });
  expect(await agent.countTokens("What grows?")).toEqual({ tokens: 45, source: "provider" });
  const [request] = server.requests;
  expect(request?.url).toMatch(/\/models\/gemini-3-flash:countTokens$/);
  expect(request?.headers["x-goog-api-key"]).toBe("key");
  expect(request?.body).toMatchObject({
    generateContentRequest: {
      model: "models/gemini-3-flash",
      systemInstruction: { parts: [{ text: "Be brief." }] },
      contents: [{ role: "user", parts: [{ text: "What grows?" }] }],
    },
  });
  expect(JSON.stringify(request?.body)).toContain('"name":"look"');
});

test("L6: the model's own fetch counts, too", async () => {
  const addresses: string[] = [];
  const fetch: typeof globalThis.fetch = async (address) => {
    addresses.push(String(address));
    return Response.json({ input_tokens: 7 });
  };
  const model = await claude("https://llm.example.com", { fetch });
  expect(await new Agent({ model }).countTokens("Hi")).toEqual({ tokens: 7, source: "provider" });
  expect(addresses).toEqual(["https://llm.example.com/v1/messages/count_tokens"]);
});

describe("the reason for an estimate", () => {
  test("L6: the provider has no endpoint", async () => {
    const model = scriptedModel([]);
    const agent = new Agent({ model, instructions: "x".repeat(400) });
    const count = await agent.countTokens("y".repeat(800));
    expect(count).toMatchObject({
      source: "estimate",
      reason: "scripted/model has no endpoint that counts tokens.",
    });
    expect(count.tokens).toBeGreaterThanOrEqual(300);
    expect(count.tokens).toBeLessThan(310);
    expect(model.asked).toBe(0);
  });

  test("L6: the endpoint refuses, fails, or answers without a number", async () => {
    await using refusing = await counting(
      { error: { type: "authentication_error", message: "invalid x-api-key" } },
      401,
    );
    const reasonOf = async (url: string) => {
      const count = await new Agent({ model: await claude(url) }).countTokens("Hello");
      expect(count.source).toBe("estimate");
      return count.reason;
    };
    expect(await reasonOf(withoutPath(refusing))).toMatch(/does not accept the API key/);
    await using odd = await counting({ total: 3 });
    expect(await reasonOf(withoutPath(odd))).toMatch(/has no number in the field "input_tokens"/);
    expect(await reasonOf((await deadAddress()).replace("/v1", ""))).toMatch(/cannot be reached/);
  });
});

test("L6: an abort rejects, and wrong options are refused", async () => {
  await using server = await serve(() => {});
  const agent = new Agent({ model: await claude(withoutPath(server)) });
  const stopping = new AbortController();
  const counted = agent.countTokens("Hello", { signal: stopping.signal });
  stopping.abort(new Error("not needed"));
  await expect(counted).rejects.toThrow("not needed");
  await expect(agent.countTokens("")).rejects.toMatchObject({ code: "empty" });
  await expect(agent.countTokens("Hello", { at: "nowhere" })).rejects.toMatchObject({ code: "unknown-message" });
  for (const [name, sentence] of [
    ["session", "The session of countTokens must be a Session"],
    ["signal", "The signal of countTokens must be an AbortSignal"],
  ] as const)
    await expect(agent.countTokens("Hello", { [name]: {} })).rejects.toThrow(sentence);
  const loop = { id: "other/program", family: "loop", run: async () => {} };
  await expect(new Agent({ model: loop }).countTokens("Hello")).rejects.toThrow(
    "other/program manages its own context, so the tokens of its requests cannot be counted.",
  );
});
