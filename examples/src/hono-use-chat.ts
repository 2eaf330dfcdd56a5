// A server of Hono for pages with the AI SDK's `useChat`: history, an approval, and a stream to resume. Below it, the client of
// `useChat` without a page.
import { Agent, defineTool } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { handler } from "@banyan/server";
import { sqliteStore } from "@banyan/store/sqlite";
import { serve } from "@hono/node-server";
import { DefaultChatTransport, readUIMessageStream, type UIMessage } from "ai";
import { Hono } from "hono";

const refund = defineTool({
  name: "refund",
  description: "Pays an order back.",
  input: { type: "object" },
  effects: "external",
  execute: () => "12 EUR are on their way.",
});
const model = scriptedModel([[call("refund")], "I have paid it back."]);
const agent = new Agent({ model, tools: [refund], permission: () => ({ decision: "ask" }) });

const api = handler(agent, {
  store: sqliteStore({ directory: "conversations" }),
  authorize: (request) => request.headers.get("cookie") === "user=ada",
});
const app = new Hono();
app.all("/api/*", (context) => api.fetch(context.req.raw));
const server = serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 });

await new Promise((resolve) => server.once("listening", resolve));
const address = server.address();
const port = typeof address === "object" ? address?.port : undefined;
const headers = { cookie: "user=ada" };
const chat = `http://127.0.0.1:${port}/api/chat`;
const transport = new DefaultChatTransport<UIMessage>({ api: chat, headers });

/** Sends the messages of a page, as `useChat` does, and returns them with the answer. */
async function send(messages: UIMessage[]): Promise<UIMessage[]> {
  const how = { chatId: "order-7", trigger: "submit-message", messageId: undefined, abortSignal: undefined } as const;
  const last = messages.at(-1);
  const stream = await transport.sendMessages({ ...how, messages });
  const message = last?.role === "assistant" ? last : undefined;
  let answer: UIMessage | undefined;
  for await (const part of readUIMessageStream({ stream, ...(message && { message }) })) answer = part;
  return [...messages.filter((each) => each !== message), ...(answer ? [answer] : [])];
}

/** The user presses "Allow": `useChat` writes the answer into the message. */
function approve(messages: UIMessage[]): UIMessage[] {
  for (const part of messages.at(-1)?.parts ?? []) {
    if (part.type !== "dynamic-tool" || part.state !== "approval-requested") continue;
    console.log(`${part.toolName} asks for approval`);
    Object.assign(part, { state: "approval-responded", approval: { id: part.approval.id, approved: true } });
  }
  return messages;
}

const asked = await send([{ id: "1", role: "user", parts: [{ type: "text", text: "Please pay order 7 back." }] }]);
await send(approve(asked));
// After a reload, the page loads its history.
const { messages } = (await (await fetch(`${chat}/order-7`, { headers })).json()) as { messages: UIMessage[] };
for (const { role, parts } of messages)
  for (const part of parts) if (part.type === "text") console.log(`${role}: ${part.text}`);
const stranger = await fetch(`${chat}/order-7`);
console.log(`without the cookie: ${stranger.status}`);
server.close();
await api.close();
