import { Agent, ModelError, Session } from "@banyan/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listModels } from "../listing.ts";
import { beForbearing } from "../local-servers.fixture.ts";
import { resolveModel } from "../resolve.ts";
import { serve } from "../testing/server.ts";
import { answerOf, say } from "../testing/sink.ts";
import { json, type LocalStandIn, MOST, standIn } from "./servers.fixture.ts";
import { LOCAL_SERVERS, type LocalServerName } from "./window.ts";

const { signal } = new AbortController();

// A busy machine may not answer within three seconds.
let impatient = () => {};
beforeAll(() => {
  impatient = beForbearing();
});
afterAll(() => impatient());

const envOf = (name: LocalServerName, { baseURL }: Pick<LocalStandIn, "baseURL">) => ({
  [`${name.toUpperCase()}_BASE_URL`]: baseURL.replace(/\/v1$/, ""),
});

const open = (name: LocalServerName, server: Pick<LocalStandIn, "baseURL">, contextSize?: number, driver?: "package") =>
  resolveModel(`${name}/m`, {
    env: envOf(name, server),
    overrides: { [`${name}/m`]: { ...(contextSize === undefined ? {} : { contextSize }), ...(driver && { driver }) } },
  });

const words = (count: number) => Array.from({ length: count }, (_, at) => `word${"abcdefghij"[at % 10]}`).join(" ");

async function failureOf(work: Promise<unknown>): Promise<ModelError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ModelError)) throw new Error(`It did not fail as a model does: ${error}`);
  return error;
}

describe.each(LOCAL_SERVERS)("F69: %s", (name) => {
  test("names the window of a model, which the driver and the list then have", async () => {
    await using server = await standIn(name, { window: 6_144 });
    const model = await open(name, server);
    expect(model.contextSize).toBeUndefined();
    await model.learnContextSize?.(signal);
    expect(model.contextSize).toBe(6_144);
    const listed = await listModels(name, { listed: [`${name}/m`], env: envOf(name, server) });
    expect(listed).toMatchObject([{ name: `${name}/m`, contextSize: 6_144 }]);
  });

  test("is asked with the first request, and once", async () => {
    await using server = await standIn(name);
    const model = await open(name, server);
    for (const text of ["One.", "Two."])
      expect(await answerOf(model, say(text))).toMatchObject([
        { type: "text", text: "Good." },
        { type: "finish", reason: "stop" },
      ]);
    expect(model.contextSize).toBe(4_096);
    const asked = server.asked.filter((path) => /props|api\/show|models/.test(path));
    expect(asked).toHaveLength(1);
  });

  test.each([
    ["at its limit", (_: number, window: number) => window],
    ["at half of it", (_: number, window: number) => window / 2 + 2],
    ["far below the words of the prompt", () => 300],
  ])("cut the prompt: a count %s is an error that names the setting", async (_, counts) => {
    await using server = await standIn(name, { counts });
    const model = await open(name, server);
    const error = await failureOf(answerOf(model, say(words(9_000))));
    expect(error).toMatchObject({ code: "context-overflow", retryable: false });
    expect(error.message).toMatch(
      /^\w+\/m read only [\d,]+ tokens of the request and dropped the rest; its context size is 4,096 tokens; make it shorter, or /,
    );
    expect(error.message).toContain(ADVICE[name]);
  });

  test("refuses a prompt that is too long: the error names the setting", async () => {
    await using server = await standIn(name, { refuses: true });
    const error = await failureOf(answerOf(await open(name, server), say(words(9_000))));
    expect(error.code).toBe("context-overflow");
    expect(error.message).toContain(ADVICE[name]);
  });

  test("returns with another window: the driver asks for it again after an error", async () => {
    await using server = await standIn(name, { refuses: true });
    const model = await open(name, server);
    await model.learnContextSize?.(signal);
    server.window = 16_384;
    // A count above the known window does not mean a cut prompt here.
    expect(await answerOf(model, say(words(5_000)))).toHaveLength(2);
    expect(model.contextSize).toBe(16_384);
    server.window = 2_048;
    await failureOf(answerOf(model, say(words(5_000))));
    await answerOf(model, say("Hello"));
    expect(model.contextSize).toBe(2_048);
  });

  test("has the server's window if the settings name a larger one, and one notice says so", async () => {
    await using server = await standIn(name, { window: 4_096 });
    const more = 2 * MOST;
    const model = await open(name, server, more);
    const [first, second] = [await answerOf(model, say("One.")), await answerOf(model, say("Two."))];
    const size = name === "ollama" ? MOST : 4_096;
    expect(model.contextSize).toBe(size);
    expect(first[0]).toMatchObject({
      type: "note",
      text: expect.stringMatching(
        /^\w+\/m has a context of [\d,]+ tokens, which is less than contextSize 262,144 in your settings\./,
      ),
    });
    expect(second.map(({ type }) => type)).toEqual(["text", "finish"]);
    const smaller = await open(name, server, 1_024);
    await smaller.learnContextSize?.(signal);
    expect(smaller.contextSize).toBe(1_024);
  });

  test("through the package has the same window, and a cut prompt is the same error", async () => {
    await using server = await standIn(name === "ollama" ? "vllm" : name, { counts: (_, window) => window });
    const used = name === "ollama" ? "vllm" : name;
    const error = await failureOf(answerOf(await open(used, server, undefined, "package"), say(words(9_000))));
    expect(error.message).toContain(`${used}/m read only`);
  });

  test("that is missing, or reports no window, works as before", async () => {
    await using silent = await serve((_, response) => json(response, {}, 404));
    const model = await open(name, silent);
    const error = await failureOf(answerOf(model, say("Hello")));
    expect(error.code).toBe("unknown-model");
    expect(model.contextSize).toBeUndefined();
    const aborted = AbortSignal.abort(new Error("no more"));
    await expect(model.learnContextSize?.(aborted)).rejects.toThrow("no more");
  });

  test("summarises a conversation before its window is full", async () => {
    await using server = await standIn(name, { window: 2_000 });
    const session = Session.inMemory();
    const agent = new Agent({ model: await open(name, server), instructions: "Be kind." });
    for (let turn = 0; turn < 6; turn++) await agent.send(words(500), { session });
    expect([...session.state.messages.values()].map(({ role }) => role)).toContain("summary");
    for (const { messages } of server.bodies)
      expect(JSON.stringify(messages).match(/\p{L}+/gu)?.length).toBeLessThan(2_000);
  });
});

const ADVICE: Readonly<Record<LocalServerName, string>> = {
  ollama:
    'set contextSize of "ollama/m" under "models" in settings.json (at most 131,072), or OLLAMA_CONTEXT_LENGTH for the server',
  lmstudio: "load the model with a larger context length in LM Studio (at most 131,072)",
  llamacpp: "start llama-server with a larger --ctx-size",
  vllm: "start vLLM with a larger --max-model-len",
};

test.each(LOCAL_SERVERS)(
  "F95: whether %s answers one request at a time is known, also through the package",
  async (name) => {
    await using server = await standIn(name);
    const isOne = name === "vllm" ? undefined : true;
    for (const driver of [undefined, "package"] as const)
      expect((await open(name, server, undefined, driver)).oneAtATime).toBe(isOne);
  },
);

test("F69: LM Studio loads a model at the first request, and the driver then knows its window", async () => {
  await using server = await standIn("lmstudio", { loaded: false, window: 8_192 });
  const model = await open("lmstudio", server);
  await model.learnContextSize?.(signal);
  expect(model.contextSize).toBeUndefined();
  await answerOf(model, say("Hello"));
  expect(model.contextSize).toBe(8_192);
});

describe("F69: Ollama's own API", () => {
  test("gets the window of the settings with each request, and refuses to cut", async () => {
    await using server = await standIn("ollama", { loaded: false });
    const model = await open("ollama", server, 32_000);
    expect(model.contextSize).toBe(32_000);
    await answerOf(
      model,
      say("Hello", { instructions: "Be kind.", settings: { temperature: 0.5, maxTokens: 9, stop: ["END"] } }),
    );
    expect(server.asked.toSorted()).toEqual(["/api/chat", "/api/ps", "/api/show"]);
    expect(server.bodies).toMatchObject([
      {
        model: "m",
        stream: true,
        truncate: false,
        options: { num_ctx: 32_000, temperature: 0.5, num_predict: 9, stop: ["END"] },
        messages: [
          { role: "system", content: "Be kind." },
          { role: "user", content: "Hello" },
        ],
      },
    ]);
    expect(server.window).toBe(32_000);
  });

  test("loads a model of which no window is known, and leaves the window as the server has it", async () => {
    await using server = await standIn("ollama", { loaded: false, window: 5_000 });
    const model = await open("ollama", server);
    await model.learnContextSize?.(signal);
    expect(model.contextSize).toBe(5_000);
    await answerOf(model, say("Hello"));
    expect(server.asked.filter((path) => path === "/api/chat")).toHaveLength(2);
    expect(server.bodies[0]?.options).toEqual({});
  });

  test("a list of models loads none, and has the window of a Modelfile", async () => {
    await using bare = await standIn("ollama", { loaded: false });
    await using set = await standIn("ollama", {
      loaded: false,
      parameters: 'stop "x"\nnum_ctx                        3072',
    });
    const sizes = await Promise.all(
      [bare, set].map(async (server) => listModels("ollama", { listed: ["ollama/m"], env: envOf("ollama", server) })),
    );
    expect(sizes.map(([model]) => model?.contextSize)).toEqual([undefined, 3_072]);
    expect(bare.loaded).toBe(false);
  });

  test("is left for the address of OpenAI's format where it does not answer", async () => {
    await using server = await standIn("vllm");
    const model = await open("ollama", server);
    expect(await answerOf(model, say("Hello"))).toMatchObject([{ text: "Good." }, { reason: "stop" }]);
    expect(server.asked).toContain("/v1/chat/completions");
  });
});
