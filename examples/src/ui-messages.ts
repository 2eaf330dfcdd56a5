// A server of your own that tells a chat to `useChat`, and the AI SDK's own client, which reads it.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Agent, defineTool, Session, say } from "@banyan/core";
import { call, reasoning, scriptedModel, text } from "@banyan/core/testing";
import { uiMessageChunks } from "@banyan/server";
import { DefaultChatTransport, readUIMessageStream, type UIMessage } from "ai";

const clock = defineTool({
  name: "clock",
  description: "Tells the time.",
  input: { type: "object" },
  effects: "none",
  execute: () => "12:00",
});
const model = scriptedModel([[reasoning("The clock knows."), call("clock")], [text("It is ", "noon.")]]);
const agent = new Agent({ model, tools: [clock] });
const session = Session.inMemory();

const server = createServer(async (request, response) => {
  const { messages } = JSON.parse(await new Response(request as never).text());
  response.writeHead(200, { "content-type": "text/event-stream", "x-vercel-ai-ui-message-stream": "v1" });
  const chat = agent.chat(say(messages.at(-1).parts[0].text), { session });
  for await (const chunk of uiMessageChunks(chat)) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  response.end("data: [DONE]\n\n");
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

const { port } = server.address() as AddressInfo;
const transport = new DefaultChatTransport<UIMessage>({ api: `http://127.0.0.1:${port}/api/chat` });
const messages: UIMessage[] = [{ id: "1", role: "user", parts: [{ type: "text", text: "What time is it?" }] }];
const stream = await transport.sendMessages({
  chatId: "noon",
  trigger: "submit-message",
  messages,
  messageId: undefined,
  abortSignal: undefined,
});
let last: UIMessage | undefined;
for await (const message of readUIMessageStream({ stream })) last = message;
for (const part of last?.parts ?? []) {
  if (part.type === "reasoning" || part.type === "text") console.log(`${part.type}: ${part.text}`);
  if (part.type === "dynamic-tool") console.log(`${part.toolName}: ${part.output}`);
}
server.close();
