// A call waits for a user: `permission` asks, the feed has the question, and an answer lets the call run.
import { createInterface } from "node:readline";
import { Agent, type Answer, defineTool, type Permission, say } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { z } from "zod";

const remove = defineTool({
  name: "remove",
  description: "Removes a file for good.",
  input: z.object({ path: z.string() }),
  effects: "external",
  execute: ({ path }) => `${path} is gone.`,
});

const permission: Permission = ({ tool, input }) => {
  if (tool.effects === "none") return { decision: "allow" };
  if (JSON.stringify(input).includes("..")) return { decision: "deny", reason: "Stay in this directory." };
  return { decision: "ask" };
};

const model = scriptedModel([
  [call("remove", { path: "../taxes.txt" }), call("remove", { path: "notes.txt" })],
  [call("remove", { path: "thesis.txt" })],
  "I have removed what I may.",
]);
const agent = new Agent({ model, tools: [remove], permission });
const chat = agent.chat(say("Clean up."));
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

for await (const item of chat) {
  if (item.type === "call.approval-requested") {
    console.log(`May I run ${item.tool} ${JSON.stringify(item.input)}? yes, or why not:`);
    const { value: line } = await lines.next();
    const answer: Answer = line === "yes" ? { decision: "allow" } : { decision: "deny", reason: line };
    await chat.session.answer(item.question, answer);
  }
  if (item.type === "call.completed" || item.type === "call.denied") console.log(`${item.type}: ${item.output}`);
  if (item.type === "text.delta") console.log(item.text);
}
await lines.return?.();
