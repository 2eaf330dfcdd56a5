// A conversation that began with the AI SDK, goes on here, and leaves for OpenAI's client.
import { Agent, Session } from "@banyan/core";
import { scriptedModel } from "@banyan/core/testing";
import type { ModelMessage } from "ai";

const messages: ModelMessage[] = [
  { role: "user", content: "My name is Ada. What time is it?" },
  { role: "assistant", content: [{ type: "tool-call", toolCallId: "call_1", toolName: "clock", input: {} }] },
  {
    role: "tool",
    content: [
      { type: "tool-result", toolCallId: "call_1", toolName: "clock", output: { type: "text", value: "12:30" } },
    ],
  },
  { role: "assistant", content: "It is half past twelve, Ada." },
];

const session = Session.inMemory();
await session.addHistory(messages);
const agent = new Agent({ model: scriptedModel(["Ada."]) });
console.log((await agent.send("What is my name?", { session })).text);

for (const message of await session.toMessages("openai-chat")) console.log(JSON.stringify(message));
