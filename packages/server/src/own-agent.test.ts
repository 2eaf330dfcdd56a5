import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Agent, defineTool } from "@banyan/core";
import { resolveModel } from "@banyan/models";
import { sqliteStore } from "@banyan/store/sqlite";
import { LLMock } from "@copilotkit/aimock";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { handler } from "./handler.ts";
import { ask } from "./testing/request.fixture.ts";
import { TOKEN, temporaryDirectory } from "./testing/serving.fixture.ts";
import { Chat, textOf, toolOf } from "./testing/ui-chat.fixture.ts";

const PROGRAM = fileURLToPath(new URL("./testing/agent-program.fixture.ts", import.meta.url));
const headers = { authorization: `Bearer ${TOKEN}` };
const PATIENCE = { timeout: 30_000 };

/** Starts the agent's server as a program. `kill` ends it without a farewell. */
async function started(form: string, directory: string) {
  const child: ChildProcess = spawn(process.execPath, [PROGRAM, form, directory, TOKEN], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, "exit");
  };
  onTestFinished(() => end("SIGKILL"));
  let said = "";
  while (!said.includes("\n"))
    said += String((await once(child.stdout as NonNullable<typeof child.stdout>, "data"))[0]);
  return { address: said.trim(), kill: () => end("SIGKILL"), stop: () => end("SIGTERM") };
}

/** The history of a chat, as a page that opens gets it. */
async function opened(address: string, id: string): Promise<Chat> {
  const chat = new Chat(address, id);
  const { body } = await ask(address, `/api/chat/${id}`, { headers });
  chat.messages = (JSON.parse(body) as { messages: typeof chat.messages }).messages;
  return chat;
}

test("L1: with a real driver, the wire has the call, the user's approval and the answer", PATIENCE, async () => {
  const mock = new LLMock({ port: 0, chunkSize: 4 });
  mock.on({ predicate: ({ messages }) => messages.at(-1)?.role === "tool" }, { content: "12 EUR are on their way." });
  mock.onMessage("refund", { toolCalls: [{ id: "call_7", name: "refund", arguments: '{"order":"7"}' }] });
  const baseURL = `${await mock.start()}/v1`;
  onTestFinished(() => mock.stop());
  const refund = defineTool({
    name: "refund",
    description: "Pays an order back.",
    input: { type: "object", properties: { order: { type: "string" } } },
    effects: "external",
    execute: (input) => `Paid back ${JSON.stringify(input)}.`,
  });
  const model = await resolveModel("openai-compatible/shop", { env: { OPENAI_COMPATIBLE_BASE_URL: baseURL } });
  const agent = new Agent({ model, tools: [refund], permission: () => ({ decision: "ask" }) });
  const store = sqliteStore({ directory: temporaryDirectory() });
  const { node, close } = handler(agent, { store, token: TOKEN });
  const server = createServer(node).listen(0, "127.0.0.1");
  onTestFinished(async () => {
    await close();
    server.closeAllConnections();
    server.close();
    await store.close();
  });
  await once(server, "listening");
  const chat = new Chat(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, "wire");
  await chat.sendMessage({ text: "Please refund order 7." });
  const part = toolOf(chat.last);
  expect(part).toMatchObject({ state: "approval-requested", input: { order: "7" } });
  const id = part && "approval" in part ? (part.approval?.id ?? "") : "";
  await chat.addToolApprovalResponse({ id, approved: true });
  await vi.waitFor(() => expect(textOf(chat.last)).toBe("12 EUR are on their way."), 20_000);
  expect(mock.getRequests().map(({ path }) => path)).toEqual(["/v1/chat/completions", "/v1/chat/completions"]);
  expect(JSON.stringify(mock.getLastRequest()?.body)).toContain('Paid back {\\"order\\":\\"7\\"}.');
});

describe.each(["serve", "handler"])("L1: %s(agent, { store }) with useChat", (form) => {
  test(
    "L1: has the history, goes on in the middle of an answer after a reload, and stops a turn",
    PATIENCE,
    async () => {
      const { address } = await started(form, temporaryDirectory());
      const first = new Chat(address, "chat-1");
      await first.sendMessage({ text: "hello" });
      expect([first.status, first.error, first.messages.length]).toEqual(["ready", undefined, 2]);
      first.sendMessage({ text: "at length" }).catch(() => {});
      await vi.waitFor(() => expect(textOf(first.last)).toContain("word3 "), 10_000);

      // Another page opens the chat meanwhile: the history, then the running turn from its beginning.
      const second = await opened(address, "chat-1");
      expect(second.messages.length).toBeGreaterThanOrEqual(3);
      await second.resumeStream();
      expect(textOf(second.last)).toMatch(/^word0 .*word199 $/);
      await vi.waitFor(() => expect(textOf(first.last)).toBe(textOf(second.last)));
      expect((await ask(address, "/api/chat/chat-1/stream", { headers })).status).toBe(204);

      second.sendMessage({ text: "again at length" }).catch(() => {});
      await vi.waitFor(() => expect(textOf(second.last)).toContain("word3 "), 10_000);
      const { body } = await ask(address, "/api/chat/chat-1/stop", { method: "POST", headers });
      expect(JSON.parse(body)).toEqual({ interrupted: 1 });
      await vi.waitFor(() => expect(second.status).not.toBe("streaming"), 10_000);
      expect(textOf(second.last)).not.toContain("word199");
    },
  );

  test("L1: an approval of the next day continues the turn in another process, once", PATIENCE, async () => {
    const directory = temporaryDirectory();
    const before = await started(form, directory);
    const asking = new Chat(before.address, "order-7");
    await asking.sendMessage({ text: "refund order 7" });
    expect(toolOf(asking.last)).toMatchObject({ toolName: "refund", state: "approval-requested" });
    await before.kill();

    const { address } = await started(form, directory);
    const chat = await opened(address, "order-7");
    await chat.resumeStream();
    const part = toolOf(chat.last);
    const id = part && "approval" in part ? (part.approval?.id ?? "") : "";
    await chat.addToolApprovalResponse({ id, approved: true });
    await vi.waitFor(() => expect([chat.status, textOf(chat.last)]).toEqual(["ready", "Paid back."]), 20_000);
    expect(readFileSync(join(directory, "refunds.txt"), "utf8")).toBe("refund\n");
    expect((await opened(address, "order-7")).messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  });

  test(
    "L1: a message names no files and no slash commands, and the agent's own turn handler runs",
    PATIENCE,
    async () => {
      const directory = temporaryDirectory();
      const { address, stop } = await started(form, directory);
      const chat = new Chat(address, "plain");
      await chat.sendMessage({ text: "/compact @package.json twice" });
      expect(chat.error).toBeUndefined();
      const { body } = await ask(address, "/api/v1/conversations/plain/export", { headers });
      // The program runs in a folder with this file.
      expect(body).not.toContain("workspaces");
      const { events } = JSON.parse(body) as { events: { type: string; role?: string; parts?: { text?: string }[] }[] };
      const users = events.filter(({ type, role }) => type === "message.added" && role === "user");
      await vi.waitFor(async () => {
        const again = await ask(address, "/api/v1/conversations/plain/export", { headers });
        expect(again.body).toContain("I continue.");
      }, 10_000);
      expect(users[0]?.parts?.[0]?.text).toBe("/compact @package.json twice");
      await stop();
      expect(existsSync(join(directory, "refunds.txt"))).toBe(false);
    },
  );
});
