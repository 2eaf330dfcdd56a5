import { Agent, type ModelDriver, Session } from "@banyan/core";
import { fromLanguageModel } from "@banyan/core/ai-sdk";
import { LLMock } from "@copilotkit/aimock";
import { createOpenRouter } from "@openrouter/ai-sdk-provider";
import { createOllama } from "ollama-ai-provider-v2";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { calling, look } from "./testing/scenarios/tools.ts";

const mock = new LLMock({ port: 0, logLevel: "silent", strict: true });
beforeAll(() => mock.start());
afterAll(() => mock.stop());
beforeEach(() => mock.reset());

const makes: { make: string; id: string; open: () => ModelDriver }[] = [
  {
    make: "@openrouter/ai-sdk-provider",
    id: "openrouter/meta/llama",
    open: () => fromLanguageModel(createOpenRouter({ baseURL: `${mock.url}/v1`, apiKey: "k" }).chat("meta/llama")),
  },
  {
    make: "ollama-ai-provider-v2",
    id: "ollama/llama",
    open: () => fromLanguageModel(createOllama({ baseURL: `${mock.url}/api` })("llama")),
  },
];

describe.each(makes)("a provider package of another make, over HTTP: $make", ({ open, id }) => {
  test("text", async () => {
    mock.onMessage("Hello", { content: "Good morning." });
    const model = open();
    const turn = await new Agent({ model }).send("Hello");
    expect(model.id).toBe(id);
    expect(turn).toMatchObject({ reason: "answered", text: "Good morning.", steps: 1 });
  });

  test("calls in two rounds, with their results in the requests that follow", async () => {
    mock.addFixture({ match: { sequenceIndex: 0 }, response: { toolCalls: [calling("call_1", "look", { at: "a" })] } });
    mock.addFixture({
      match: { sequenceIndex: 1 },
      response: { toolCalls: [calling("call_2", "look", { at: "b" }), calling("call_3", "look", { at: "c" })] },
    });
    mock.addFixture({ match: { sequenceIndex: 2 }, response: { content: "All seen." } });
    const session = Session.inMemory();
    const turn = await new Agent({ model: open(), tools: [look] }).send("Look around", { session });
    expect(turn).toMatchObject({ reason: "answered", text: "All seen.", steps: 3 });
    const calls = [...session.state.messages.values()].flatMap((message) =>
      message.role === "assistant" ? message.calls.map(({ tool, input, output }) => ({ tool, input, output })) : [],
    );
    expect(calls).toEqual(["a", "b", "c"].map((at) => ({ tool: "look", input: { at }, output: `seen: ${at}` })));
    const last = mock.getLastRequest()?.body as { messages: { role: string; content: unknown }[] };
    const results = last.messages.filter(({ role }) => role === "tool").map(({ content }) => content);
    expect(results).toEqual(["seen: a", "seen: b", "seen: c"]);
  });

  test("a failure has its code", async () => {
    mock.nextRequestError(429, { message: "Slow down" });
    await expect(new Agent({ model: open(), retry: { attempts: 1 } }).send("Hello")).rejects.toMatchObject({
      code: "rate-limit",
    });
  });
});
