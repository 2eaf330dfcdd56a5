import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, Session } from "@banyan/core";
import { sqliteMemory } from "@banyan/memory";
import { resolveModel } from "@banyan/models";
import { sqliteStore } from "@banyan/store/sqlite";
import { LLMock } from "@copilotkit/aimock";
import { expect, onTestFinished, test } from "vitest";

const COLOUR = "The user's favourite colour is teal.";

test("L6: over a real wire and after a restart, the request has the same marks, and the citation counts", async () => {
  const mock = new LLMock({ port: 0, chunkSize: 4, logLevel: "silent" });
  mock.onMessage("again", { content: "Teal, still [m1]." });
  mock.onMessage("colour", { content: "Teal [m1]." });
  await mock.start();
  onTestFinished(() => mock.stop());
  const directory = mkdtempSync(join(tmpdir(), "citations-"));
  const store = sqliteMemory({ file: join(directory, "memory.sqlite") });
  onTestFinished(async () => {
    await store.close();
    rmSync(directory, { recursive: true });
  });
  await store.add({ text: COLOUR });
  const env = { ANTHROPIC_API_KEY: "test", ANTHROPIC_BASE_URL: mock.url };
  const agent = new Agent({
    model: await resolveModel("anthropic/claude-sonnet-4-5", { env }),
    memory: { store, cite: true },
  });
  const take = async (words: string) => {
    const conversations = sqliteStore({ directory: join(directory, "conversations") });
    const session = await Session.open(conversations, "colours", { create: true });
    const { citations } = await agent.send(words, { session });
    await session.close();
    await conversations.close();
    return citations.map(({ text }) => text);
  };
  expect(await take("Which favourite colour?")).toEqual([COLOUR]);
  expect(await take("Once again?")).toEqual([COLOUR]);
  const [before, after] = mock.getRequests().map(({ body }) => JSON.stringify(body));
  const block = /<recalled-from-memory>.*?<\/recalled-from-memory>/;
  expect(block.exec(after ?? "")?.[0]).toBe(block.exec(before ?? "")?.[0]);
});
