// A server of your own that tells a session to programs of AG-UI, and AG-UI's own client, which answers what it asks.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { HttpAgent, type RunAgentInput } from "@ag-ui/client";
import { Agent, defineTool, Session } from "@banyan/core";
import { call, scriptedModel, text } from "@banyan/core/testing";
import { agUiEvents } from "@banyan/server";

const ring = defineTool({
  name: "ring",
  description: "Rings the bell.",
  input: { type: "object" },
  effects: "external",
  execute: () => "It rang.",
});
const model = scriptedModel([[text("I ring. "), call("ring")], [text("Did you hear it?")]]);
const agent = new Agent({ model, tools: [ring], permission: () => ({ decision: "ask" }) });
const session = Session.inMemory();

const server = createServer(async (request, response) => {
  const run: RunAgentInput = JSON.parse(await new Response(request as never).text());
  response.writeHead(200, { "content-type": "text/event-stream" });
  const events = agUiEvents(session.feed(), run, { session, continues: run.resume !== undefined });
  for (const { interruptId, payload } of run.resume ?? [])
    await session.answer(interruptId, { decision: payload.approved ? "allow" : "deny" });
  if (!run.resume) agent.send(String(run.messages.at(-1)?.content), { session }).catch(() => {}); // The events report errors.
  for await (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`);
  response.end();
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

const { port } = server.address() as AddressInfo;
const client = new HttpAgent({ url: `http://127.0.0.1:${port}/`, threadId: session.id });
client.addMessage({ id: "1", role: "user", content: "Ring the bell." });
await client.runAgent();
const [asks] = client.pendingInterrupts;
console.log(`asks: ${asks?.message}`);
await client.runAgent({
  resume: [{ interruptId: asks?.id ?? "", status: "resolved", payload: { approved: true } }],
});
for (const message of client.messages) console.log(`${message.role}: ${message.content}`);
server.close();
