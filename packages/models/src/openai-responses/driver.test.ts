import { Agent, defineTool, type ModelDriver, Session } from "@banyan/core";
import { MockAgent } from "undici";
import { describe, expect, test } from "vitest";
import { azure } from "../entry/azure.ts";
import { openai } from "../entry/openai.ts";
import { xai } from "../entry/xai.ts";
import type { ModelOverrides } from "../provider/catalogue.ts";
import type { ProviderModelOptions } from "../provider/model-function.ts";
import { resolveModel } from "../resolve.ts";
import { eventOf } from "../testing/server.ts";
import { openAIResponses } from "./driver.ts";

interface Sent {
  readonly address: string;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

const message = { type: "message", id: "msg_1", role: "assistant", content: [] };
const ANSWER = [
  { type: "response.created", response: { id: "r", created_at: 1, model: "m" } },
  { type: "response.output_item.added", output_index: 0, item: message },
  { type: "response.output_text.delta", item_id: "msg_1", output_index: 0, content_index: 0, delta: "Figs." },
  { type: "response.output_item.done", output_index: 0, item: message },
  { type: "response.completed", response: { usage: { input_tokens: 1, output_tokens: 1 } } },
]
  .map(eventOf)
  .join("");

/** A `fetch` that keeps requests and answers each with the next body. */
function keeping(...answers: readonly (string | Response)[]) {
  const sent: Sent[] = [];
  const fetch: typeof globalThis.fetch = async (address, init) => {
    sent.push({ address: String(address), headers: new Headers(init?.headers), body: JSON.parse(String(init?.body)) });
    const answer = answers[sent.length - 1] ?? answers.at(-1) ?? ANSWER;
    return answer instanceof Response
      ? answer
      : new Response(answer, { headers: { "content-type": "text/event-stream" } });
  };
  return { sent, fetch };
}

async function firstRequest(open: (fetch: ProviderModelOptions["fetch"]) => ModelDriver, settings = {}): Promise<Sent> {
  const { sent, fetch } = keeping();
  expect((await new Agent({ model: open(fetch), settings }).send("What grows?")).text).toBe("Figs.");
  return sent[0] as Sent;
}

/** Hosts of Azure, below which anybody may own a name. */
const OPENAI = "openai.azure.com";
const PROJECTS = "services.ai.azure.com";

describe("addresses and keys", () => {
  test.each([
    [`https://house.${OPENAI}/openai`, `https://house.${OPENAI}/openai/v1/responses?api-version=v1`],
    [`https://house.${OPENAI}/openai/v1`, `https://house.${OPENAI}/openai/v1/responses`],
    [
      `https://house.${OPENAI}/openai?api-version=preview`,
      `https://house.${OPENAI}/openai/v1/responses?api-version=preview`,
    ],
    [`https://house.${PROJECTS}/api/projects/p/openai`, `https://house.${PROJECTS}/api/projects/p/openai/v1/responses`],
    ["https://gateway.example/azure", "https://gateway.example/azure/responses"],
  ])("V1: Azure at %s", async (baseURL, address) => {
    const sent = await firstRequest((fetch) => azure("d", { apiKey: "key-of-azure", baseURL, fetch, env: {} }));
    expect(sent.address).toBe(address);
    expect(sent.headers.get("api-key")).toBe("key-of-azure");
    expect(sent.headers.get("authorization")).toBeNull();
    const isProject = baseURL.includes("/api/projects/");
    expect((sent.body.input as readonly object[]).every((item) => "type" in item)).toBe(isProject);
  });

  test("V1: Azure by the name of the resource", async () => {
    const env = { AZURE_RESOURCE_NAME: "house" };
    const { address } = await firstRequest((fetch) => azure("d", { apiKey: "k", env, fetch }));
    expect(address).toBe(`https://house.${OPENAI}/openai/v1/responses?api-version=v1`);
  });

  test("V1: xAI and OpenAI get a bearer token", async () => {
    const grok = await firstRequest((fetch) => xai("grok-4.5", { apiKey: "k", fetch, env: {} }));
    const gpt = await firstRequest((fetch) => openai("gpt-5.4", { apiKey: "k", fetch, env: {} }));
    expect([grok.address, gpt.address]).toEqual([
      "https://api.x.ai/v1/responses",
      "https://api.openai.com/v1/responses",
    ]);
    for (const { headers } of [grok, gpt]) expect(headers.get("authorization")).toBe("Bearer k");
  });
});

describe("options of a request", () => {
  const gpt = (fetch: ProviderModelOptions["fetch"]) => openai("gpt-5.4", { apiKey: "k", fetch, env: {} });

  test("V6: only OpenAI's own server is asked to leave out the padding of events", async () => {
    expect((await firstRequest(gpt)).body.stream_options).toEqual({ include_obfuscation: false });
    const other = { id: "x/m", model: "m", baseURL: "https://gateway.example/v1" };
    const gateway = await firstRequest((fetch) => openAIResponses({ ...other, ...(fetch ? { fetch } : {}) }));
    expect(gateway.body).not.toHaveProperty("stream_options");
  });

  test("F85: a server that refuses `stream_options` gets a retry without, and never gets it again", async () => {
    const refusal = () =>
      Response.json({ error: { message: "Unknown parameter: 'stream_options'." } }, { status: 400 });
    const { sent, fetch } = keeping(refusal(), ANSWER, ANSWER);
    const agent = new Agent({ model: gpt(fetch) });
    for (const _ of [1, 2]) expect((await agent.send("What grows?")).text).toBe("Figs.");
    expect(sent.map(({ body }) => "stream_options" in body)).toEqual([true, false, false]);
  });

  test("V1: options that Banyan does not know reach the server under their names in snake case", async () => {
    const openai = { moonPhase: { isFull: true }, prompt_cache_key: "own", temperature: null };
    const { body } = await firstRequest(gpt, { providerOptions: { openai } });
    expect(body).toMatchObject({ moon_phase: { isFull: true }, prompt_cache_key: "own" });
    expect(body).not.toHaveProperty("temperature");
  });

  test("V1: the user's `input` and `tools` replace nothing", async () => {
    const { body } = await firstRequest(gpt, { providerOptions: { openai: { input: "x", tools: [] } } });
    expect(body.input).toEqual([{ role: "user", content: [{ type: "input_text", text: "What grows?" }] }]);
    expect(body).not.toHaveProperty("tools");
  });
});

test("L6: OpenAI's endpoint counts a request, and gets no other field", async () => {
  const { sent, fetch } = keeping(Response.json({ object: "response.input_tokens", input_tokens: 21 }));
  const agent = new Agent({ model: openai("gpt-5.4:low", { apiKey: "k", fetch, env: {} }), instructions: "Be brief." });
  expect(await agent.countTokens("What grows?")).toEqual({ tokens: 21, source: "provider" });
  expect(sent.map(({ address }) => address)).toEqual(["https://api.openai.com/v1/responses/input_tokens"]);
  expect(sent[0]?.headers.get("authorization")).toBe("Bearer k");
  expect(sent[0]?.body).toEqual({
    model: "gpt-5.4",
    input: [
      { role: "developer", content: "Be brief." },
      { role: "user", content: [{ type: "input_text", text: "What grows?" }] },
    ],
    reasoning: { effort: "low", summary: "detailed" },
  });
});

test("L6: requests for counts need no second way of sending, and OpenAI's regional servers count too", async () => {
  const dispatcher = new MockAgent();
  const body = { object: "response.input_tokens", input_tokens: 21 };
  const headers = { "content-type": "application/json" };
  dispatcher
    .get("https://eu.api.openai.com")
    .intercept({ path: "/v1/responses/input_tokens", method: "POST" })
    .reply(200, body, { headers });
  const options = { id: "openai/gpt-5.4", model: "gpt-5.4", baseURL: "https://eu.api.openai.com/v1" };
  const agent = new Agent({ model: openAIResponses({ ...options, dispatcher }) });
  expect(await agent.countTokens("What grows?")).toEqual({ tokens: 21, source: "provider" });
});

test("F48: reasoning of an answer that was cut before its first word is not sent without that answer", async () => {
  const thought = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "secret" };
  const cut = [
    { type: "response.output_item.added", output_index: 0, item: thought },
    { type: "response.output_item.done", output_index: 0, item: thought },
    { type: "response.output_item.added", output_index: 1, item: message },
    { type: "response.incomplete", response: { incomplete_details: { reason: "max_output_tokens" } } },
  ];
  const { sent, fetch } = keeping(cut.map(eventOf).join(""), ANSWER);
  const agent = new Agent({ model: openai("gpt-5.4", { apiKey: "k", fetch, env: {} }) });
  const session = Session.inMemory();
  await agent.send("What grows?", { session }).catch(() => {});
  expect((await agent.send("What grows?", { session })).text).toBe("Figs.");
  expect(sent).toHaveLength(2);
  expect(JSON.stringify(sent[1]?.body.input)).not.toContain('"reasoning"');
});

test("V1: the driver reads an answer that does not stream", async () => {
  const whole = {
    object: "response",
    status: "completed",
    model: "m",
    output: [{ ...message, content: [{ type: "output_text", text: "Figs." }] }],
  };
  const { fetch } = keeping(Response.json(whole));
  const model = openai("gpt-5.4", { apiKey: "k", fetch, env: {} });
  expect((await new Agent({ model }).send("What grows?")).text).toBe("Figs.");
});

const CALLS = [
  { type: "response.created", response: { id: "r", created_at: 1, model: "m" } },
  ...[
    { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "secret" },
    { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "figs" } },
    { type: "function_call", id: "fc_1", call_id: "call_1", name: "look", arguments: "{}" },
  ].flatMap((bare, output_index) => {
    const item = { ...bare, status: "completed" };
    return [
      { type: "response.output_item.added", output_index, item },
      { type: "response.output_item.done", output_index, item },
    ];
  }),
  { type: "response.completed", response: { usage: { input_tokens: 1, output_tokens: 1 } } },
]
  .map(eventOf)
  .join("");

const look = defineTool({
  name: "look",
  description: "Looks.",
  input: { type: "object" },
  effects: "none",
  execute: () => "seen",
});

test.each([
  ["own", "package"],
  ["package", "own"],
] as const)("V1: a conversation that began with the driver %s continues with the driver %s", async (before, after) => {
  const serverTools = [{ id: "openai.web_search", name: "web_search" }] as const;
  const second = async (drivers: readonly ("own" | "package")[]) => {
    const session = Session.inMemory();
    const { sent, fetch } = keeping(CALLS, ANSWER, ANSWER);
    for (const driver of drivers) {
      const overrides: ModelOverrides = driver === "package" ? { "openai/gpt-5": { driver } } : {};
      const model = await resolveModel("openai/gpt-5", { env: { OPENAI_API_KEY: "k" }, overrides, fetch });
      const agent = new Agent({ model, tools: [look], settings: { serverTools } });
      expect((await agent.send("What grows?", { session })).text).toBe("Figs.");
    }
    return sent.at(-1)?.body;
  };
  const continued = await second([before, after]);
  expect(continued).toMatchObject({
    input: expect.arrayContaining([expect.objectContaining({ encrypted_content: "secret" })]),
  });
  expect(continued).toEqual(await second([after, after]));
});
