import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createOpenAI } from "@ai-sdk/openai";
import { Agent, type ModelDriver, Session } from "@banyan/core";
import { fromLanguageModel } from "@banyan/core/ai-sdk";
import { recorded } from "@banyan/core/testing";
import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { formats, openAt } from "./scenarios/formats.ts";
import { calling, look } from "./scenarios/tools.ts";

const folder = mkdtempSync(join(tmpdir(), "recorded-"));
beforeAll(() => vi.stubEnv("CI", ""));
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

type Open = (address: string, fetch: typeof globalThis.fetch) => ModelDriver | Promise<ModelDriver>;

const models: readonly { readonly name: string; readonly open: Open }[] = [
  ...formats.map((format) => ({
    name: format.name,
    open: (address: string, fetch: typeof globalThis.fetch) => openAt(format, address, fetch),
  })),
  {
    name: "a model of an AI SDK package",
    open: (address, fetch) =>
      fromLanguageModel(createOpenAI({ baseURL: `${address}/v1`, apiKey: "test-key", fetch }).chat("gpt-5")),
  },
];

/** The messages of a turn, without times and random ids. */
async function messagesOf(model: ModelDriver): Promise<string> {
  const session = Session.inMemory();
  await new Agent({ model, tools: [look] }).send("Look around", { session });
  const messages = [...session.state.messages.values()].map((message) => {
    if (message.role === "user") return message.parts;
    if (message.role !== "assistant") return message;
    const calls = message.calls.map(({ id, tool, input, output }) => ({ id, tool, input, output }));
    return { parts: message.parts, calls, usage: message.usage };
  });
  return JSON.stringify(messages);
}

describe("a recording", () => {
  test.each(models)("L7: replays the same messages without the provider: $name", async ({ name, open }) => {
    const mock = new LLMock({ port: 0, logLevel: "silent", strict: true, chunkSize: 4 });
    mock.addFixture({ match: { sequenceIndex: 0 }, response: { toolCalls: [calling("call_1", "look", { at: "a" })] } });
    mock.addFixture({ match: { sequenceIndex: 1 }, response: { content: "Grüße: all seen.", reasoning: "Done." } });
    await mock.start();
    const file = join(folder, `${name.replaceAll(/\W+/g, "-")}.json`);
    const at = (address: string, record: boolean) => recorded(file, (fetch) => open(address, fetch), { record });
    let live: string;
    try {
      live = await messagesOf(await at(mock.url, true));
    } finally {
      await mock.stop();
    }
    expect(live).toContain("Grüße: all seen.");
    const text = readFileSync(file, "utf8");
    expect(text).not.toContain("test-key");
    expect(await messagesOf(await at("http://models.example", false))).toBe(live);
    expect(readFileSync(file, "utf8")).toBe(text);
    const other = new Agent({ model: await at("http://models.example", false), tools: [look] });
    const difference = /is not in .*: .*recorded "Look around", sent "Look elsewhere"/;
    await expect(other.send("Look elsewhere")).rejects.toMatchObject({
      code: "invalid-request",
      message: expect.stringMatching(difference),
    });
  });
});
