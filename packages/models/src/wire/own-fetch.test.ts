import { gzipSync } from "node:zlib";
import { ModelError } from "@banyan/core";
import type { ModelSink } from "@banyan/core/drivers";
import { LLMock } from "@copilotkit/aimock";
import { Agent as Pool } from "undici";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { embeddingModel } from "../embedding.ts";
import { openAIChat } from "../openai-chat/driver.ts";
import { providers } from "../providers.ts";
import { resolveModel } from "../resolve.ts";
import { formats, openAt } from "../testing/scenarios/formats.ts";
import { chunk, eventOf } from "../testing/server.ts";
import { answerOf, KeepingSink, say } from "../testing/sink.ts";

const HOST = "http://models.example";
const never = new AbortController().signal;
const refusing = async () => Response.json({ error: { message: "Not today" } }, { status: 400 });

/** Requests that did not use the own `fetch`. */
const elsewhere = vi.spyOn(globalThis, "fetch");
afterEach(() => elsewhere.mockClear());
afterAll(() => elsewhere.mockRestore());

function chatOver(fetch: typeof globalThis.fetch) {
  return openAIChat({ id: "openai-chat/m", model: "m", baseURL: `${HOST}/v1`, fetch });
}

function streamOf(...events: readonly (object | string)[]): Response {
  return new Response(events.map(eventOf).join(""), { headers: { "content-type": "text/event-stream" } });
}

/** The environment that sets up a provider at `HOST`. */
function environmentOf({ keyVariable, addressVariable }: (typeof providers)[number]) {
  return {
    ...(keyVariable === undefined ? {} : { [keyVariable]: "k" }),
    ...(addressVariable === undefined ? {} : { [addressVariable]: HOST }),
    AWS_REGION: "eu-west-1",
  };
}

const remote = providers.filter(({ name }) => name !== "demo" && name !== "local");
const packages = remote.filter(({ openPackage }) => openPackage);

describe("an own fetch", () => {
  test.each([
    ...remote.map((provider) => ({ provider, driver: undefined })),
    ...packages.map((provider) => ({ provider, driver: "package" as const })),
  ])("L6: sends every request of $provider.name (driver: $driver)", async ({ provider, driver }) => {
    const name = `${provider.name}/some-model`;
    const asked: string[] = [];
    const fetch: typeof globalThis.fetch = async (address) => {
      asked.push(String(address));
      return refusing();
    };
    const overrides = driver ? { [name]: { driver } } : {};
    const model = await resolveModel(name, { env: environmentOf(provider), overrides, fetch });
    await expect(model.stream(say("Hello"), new KeepingSink(), never)).rejects.toThrow("Not today");
    expect(asked.length).toBeGreaterThanOrEqual(provider.local ? 2 : 1);
    expect(asked.filter((address) => !address.startsWith(`${HOST}/`))).toEqual([]);
    expect(elsewhere).not.toHaveBeenCalled();
  });

  test.each(remote.filter(({ openEmbedding }) => openEmbedding))(
    "L6: sends the requests of embedding models of $name",
    async (provider) => {
      const fetch = vi.fn(refusing);
      const model = embeddingModel(`${provider.name}/some-model`, { env: environmentOf(provider), fetch });
      await expect(model.doEmbed({ values: ["Hello"] })).rejects.toMatchObject({ statusCode: 400 });
      expect(fetch).toHaveBeenCalledOnce();
    },
  );

  test("L6: gets the body as a text, and the signal of the turn", async () => {
    let sent: RequestInit | undefined;
    const open: typeof globalThis.fetch = (_, init) => {
      sent = init;
      return new Promise((_resolve, reject) =>
        init?.signal?.addEventListener("abort", () => reject(init.signal?.reason)),
      );
    };
    const abort = new AbortController();
    const answer = chatOver(open).stream(say("Hello"), new KeepingSink(), abort.signal);
    await vi.waitFor(() => expect(sent).toBeDefined());
    expect(JSON.parse(sent?.body as string)).toMatchObject({ messages: [{ role: "user", content: "Hello" }] });
    abort.abort(new Error("enough"));
    await expect(answer).rejects.toThrow("enough");
    expect(sent?.signal?.aborted).toBe(true);
  });

  test("L6: may answer with a packed body, which fetch has unpacked", async () => {
    const packed = gzipSync(eventOf(chunk({ content: "Hello" }, "stop")) + eventOf("[DONE]"));
    const fetch: typeof globalThis.fetch = async () =>
      new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip")), {
        headers: { "content-type": "text/event-stream", "content-encoding": "gzip" },
      });
    expect((await answerOf(chatOver(fetch), say("x"))).at(0)).toEqual({ type: "text", text: "Hello" });
  });

  test("L6: is not read while the sink is full", async () => {
    let read = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          if (read++ === 50) return controller.close();
          controller.enqueue(Buffer.from(eventOf(read < 50 ? chunk({ content: "a" }) : chunk({}, "stop"))));
        },
      },
      { highWaterMark: 0 },
    );
    const gate = Promise.withResolvers<void>();
    const sink: ModelSink = { push: (parts) => parts.length === 0, ready: () => gate.promise };
    const headers = { "content-type": "text/event-stream" };
    const answer = chatOver(async () => new Response(body, { headers })).stream(say("x"), sink, never);
    await vi.waitFor(() => expect(read).toBeGreaterThan(0));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(read).toBeLessThan(5);
    gate.resolve();
    await answer;
    expect(read).toBe(51);
  });

  test("L6: fails as a connection does, or with its own ModelError", async () => {
    const failing = (error: Error) =>
      answerOf(
        chatOver(() => Promise.reject(error)),
        say("x"),
      );
    const own = new ModelError("invalid-request", "No recording fits.");
    await expect(failing(own)).rejects.toBe(own);
    const cause = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    await expect(failing(new TypeError("fetch failed", { cause }))).rejects.toMatchObject({ code: "unreachable" });
    const cut = async () => {
      const body = new ReadableStream({
        start(controller) {
          controller.enqueue(Buffer.from(eventOf(chunk({ content: "Hel" }))));
          controller.error(new Error("cut"));
        },
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    };
    await expect(answerOf(chatOver(cut), say("x"))).rejects.toMatchObject({ code: "broken-stream" });
  });

  test("L6: makes a driver of its own, which resolveModel returns again", async () => {
    const env = { OPENAI_API_KEY: "k" };
    const [one, other] = [refusing, async () => streamOf("[DONE]")];
    const open = (fetch?: typeof globalThis.fetch) => resolveModel("openai/gpt-5", { env, fetch });
    expect(await open(one)).toBe(await open(one));
    expect(await open(one)).not.toBe(await open(other));
    expect(await open(one)).not.toBe(await open());
  });

  test("L6: that is no function, or competes with a dispatcher, is refused", async () => {
    const wrong = { fetch: "fetch" as unknown as typeof fetch };
    expect(() => chatOver(wrong.fetch)).toThrow(
      "fetch of the model openai-chat/m must be a function like the global fetch, not a string.",
    );
    await expect(resolveModel("openai/gpt-5", { env: { OPENAI_API_KEY: "k" }, ...wrong })).rejects.toThrow(
      "fetch of resolveModel must be a function like the global fetch, not a string.",
    );
    expect(() => embeddingModel("openai/e", wrong)).toThrow("fetch of embeddingModel must be a function");
    const both = { fetch: refusing, dispatcher: new Pool() };
    expect(() => openAIChat({ id: "openai-chat/m", model: "m", baseURL: HOST, ...both })).toThrow(
      "the model openai-chat/m takes fetch or dispatcher, not both: leave one of them out.",
    );
  });
});

describe("a runtime without undici", () => {
  afterEach(() => vi.unstubAllGlobals());

  test.each(remote)("L8: the requests of $name go over the global fetch", async (provider) => {
    const fetch = vi.fn(refusing);
    vi.stubGlobal("navigator", { userAgent: "Bun/1.4" });
    vi.stubGlobal("fetch", fetch);
    const name = `${provider.name}/a-model`;
    const model = await resolveModel(name, { env: environmentOf(provider) });
    await expect(model.stream(say("Hello"), new KeepingSink(), never)).rejects.toThrow("Not today");
    expect(fetch).toHaveBeenCalled();
  });
});

describe("against the mock of the providers", () => {
  const mock = new LLMock({ port: 0, logLevel: "silent", strict: true, chunkSize: 4 });
  beforeAll(() => mock.start());
  afterAll(() => mock.stop());

  test.each(formats)("L6: the answer over the global fetch is the same as over the pool: $name", async (format) => {
    mock.onMessage("Hello", { content: "Good morning, dear world.", reasoning: "They greet me." });
    const withoutIds = (parts: unknown) =>
      JSON.stringify(parts).replaceAll(/"((rs|msg|resp)[_-][\w-]+|YWltb2Nr[\w+/=]+)"/g, '"id"');
    const parts = await answerOf(await openAt(format, mock.url, (address, init) => fetch(address, init)), say("Hello"));
    expect(JSON.stringify(parts)).toContain("Good morning, dear world.");
    expect(withoutIds(parts)).toBe(withoutIds(await answerOf(await openAt(format, mock.url), say("Hello"))));
  });
});
