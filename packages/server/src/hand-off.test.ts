import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Agent, handOff } from "@banyan/core";
import { resolveModel } from "@banyan/models";
import { sqliteStore } from "@banyan/store/sqlite";
import { LLMock } from "@copilotkit/aimock";
import { expect, onTestFinished, test } from "vitest";
import { handler } from "./handler.ts";
import { ask } from "./testing/request.fixture.ts";
import { TOKEN, temporaryDirectory } from "./testing/serving.fixture.ts";
import { Chat, textOf, toolOf } from "./testing/ui-chat.fixture.ts";

const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };

/** Serves an agent that hands poems over to a poet and counts trees with an agent as a tool. */
async function served(directory: string, baseURL: string) {
  const env = { OPENAI_COMPATIBLE_BASE_URL: baseURL };
  const [sorter, poet, counter] = await Promise.all(
    ["sorter", "poet", "counter"].map((name) => resolveModel(`openai-compatible/${name}`, { env })),
  );
  if (!sorter || !poet || !counter) throw new Error("three models");
  const writer = new Agent({ name: "poet", description: "Writes poems.", model: poet });
  const counting = new Agent({ name: "counter", description: "Counts trees.", model: counter });
  const agent = new Agent({ name: "desk", model: sorter, tools: [handOff(writer), counting.asTool()] });
  const store = sqliteStore({ directory });
  const { node, close } = handler(agent, { store, token: TOKEN });
  const server = createServer(node).listen(0, "127.0.0.1");
  const end = async () => {
    await close();
    server.closeAllConnections();
    server.close();
    await store.close();
  };
  await once(server, "listening");
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, end };
}

test("L3: behind a server, agents by value and hand-offs work over a wire, and a restart keeps the agent of a chat", async () => {
  const mock = new LLMock({ port: 0, chunkSize: 4, logLevel: "silent" });
  const baseURL = `${await mock.start()}/v1`;
  onTestFinished(() => mock.stop());
  const model = (name: string) =>
    mock.getRequests().filter(({ body }) => body && "model" in body && body.model === name);
  mock.on({ model: "poet", userMessage: "more" }, { content: "A root found ground." });
  mock.on({ model: "poet" }, { content: "A fig fell down." });
  mock.on({ model: "counter" }, { content: "There are 12." });
  mock.on({ model: "sorter", predicate: ({ messages }) => messages.at(-1)?.role === "tool" }, { content: "12 trees." });
  mock.on(
    { model: "sorter", userMessage: "trees" },
    { toolCalls: [{ name: "counter", arguments: '{"task":"Count."}' }] },
  );
  mock.on({ model: "sorter" }, { toolCalls: [{ name: "hand_off_to_poet", arguments: '{"note":"Figs."}' }] });

  const directory = temporaryDirectory();
  const before = await served(directory, baseURL);
  const chat = new Chat(before.address, "poems");
  await chat.sendMessage({ text: "How many trees?" });
  expect([textOf(chat.last), toolOf(chat.last)]).toMatchObject([
    "12 trees.",
    { toolName: "counter", output: "There are 12." },
  ]);
  await chat.sendMessage({ text: "A poem, please." });
  expect([textOf(chat.last), chat.status]).toEqual(["A fig fell down.", "ready"]);
  await before.end();

  const after = await served(directory, baseURL);
  onTestFinished(after.end);
  const again = new Chat(after.address, "poems");
  again.messages = chat.messages;
  await again.sendMessage({ text: "One more." });
  expect(textOf(again.last)).toBe("A root found ground.");
  expect([model("sorter").length, model("poet").length, model("counter").length]).toEqual([3, 2, 1]);

  const body = JSON.stringify({ model: "desk", messages: [{ role: "user", content: "A poem, please." }] });
  const answer = await ask(after.address, "/v1/chat/completions", { method: "POST", headers, body });
  expect(JSON.parse(answer.body)).toMatchObject({ choices: [{ message: { content: "A fig fell down." } }] });
});
