import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Agent } from "@banyan/core";
import { resolveModel } from "@banyan/models";
import { sqliteStore } from "@banyan/store/sqlite";
import { LLMock } from "@copilotkit/aimock";
import { expect, onTestFinished, test, vi } from "vitest";
import { handler } from "./handler.ts";
import { ask } from "./testing/request.fixture.ts";
import { TOKEN, temporaryDirectory } from "./testing/serving.fixture.ts";
import { Chat, textOf } from "./testing/ui-chat.fixture.ts";

const PATIENCE = { interval: 5 };
const headers = { authorization: `Bearer ${TOKEN}` };

/** An agent with guards behind a handler, a real driver before a recorded wire, and all bytes of its store. */
async function served(hold: boolean) {
  const mock = new LLMock({ port: 0, chunkSize: 4, latency: 60 });
  mock.onMessage("number", { content: "The number of the card is 4000-1234-5678." });
  mock.onMessage("hello", { content: "Hello, how are you?" });
  const baseURL = `${await mock.start()}/v1`;
  const directory = temporaryDirectory();
  const store = sqliteStore({ directory });
  const model = await resolveModel("openai-compatible/shop", { env: { OPENAI_COMPATIBLE_BASE_URL: baseURL } });
  const agent = new Agent({
    model,
    guards: {
      input: ({ text }) => (text.includes("hunter2") ? { refuse: "Write no passwords here." } : undefined),
      output: ({ text }) => (/4000/.test(text) ? { refuse: "It names a card." } : undefined),
      hold,
    },
  });
  const { node, close } = handler(agent, { store, token: TOKEN });
  const server = createServer(node).listen(0, "127.0.0.1");
  onTestFinished(async () => {
    await close();
    server.closeAllConnections();
    server.close();
    await store.close();
    await mock.stop();
  });
  await once(server, "listening");
  const stored = () =>
    readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
      .join("");
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stored, mock };
}

/** Everything that a second client gets of a running turn, byte for byte. */
async function watch(address: string, id: string): Promise<string> {
  await vi.waitFor(async () => {
    const { status } = await ask(address, `/api/chat/${id}`, { headers });
    expect(status).toBe(200);
  }, PATIENCE);
  const response = await fetch(`${address}/api/chat/${id}/stream`, { headers });
  return await response.text();
}

test("L6: a held refusal reaches neither the store nor a second client, over the wire", async () => {
  const { address, stored } = await served(true);
  const chat = new Chat(address, "held");
  const first = chat.sendMessage({ text: "Which number?" }).catch(() => {});
  const seen = await watch(address, "held");
  expect(seen).toContain("data: ");
  await first;
  expect(chat.error?.message).toContain("It names a card.");
  const { body } = await ask(address, "/api/chat/held", { headers });
  for (const text of [JSON.stringify(chat.messages), seen, body, stored()]) expect(text).not.toContain("4000");
  expect(stored()).toContain("Which number?");
  await chat.sendMessage({ text: "hello" });
  expect(textOf(chat.last)).toBe("Hello, how are you?");
});

test("L6: without hold, clients see the text until the refusal, and the history does not have the text", async () => {
  const { address } = await served(false);
  const chat = new Chat(address, "shown");
  const first = chat.sendMessage({ text: "Which number?" }).catch(() => {});
  await vi.waitFor(() => expect(textOf(chat.last)).toContain("The number"), PATIENCE);
  await first;
  expect(chat.error?.message).toContain("It names a card.");
  expect(textOf(chat.last)).toBe("");
  const { body } = await ask(address, "/api/chat/shown", { headers });
  expect(body).not.toContain("4000");
});

test("L6: a client learns why its message was refused, and the store does not have the message", async () => {
  const { address, stored, mock } = await served(true);
  const chat = new Chat(address, "refused");
  await chat.sendMessage({ text: "My password is hunter2." }).catch(() => {});
  expect(chat.error?.message).toContain("Write no passwords here.");
  expect(stored()).not.toContain("hunter2");
  expect(mock.getRequests()).toEqual([]);
});
