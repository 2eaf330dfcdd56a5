// A clerk hands over to a writer in one stream. Ctrl-C ends an answer, and the next start continues the conversation.
import { createInterface } from "node:readline";
import { Agent, type Chat, type ChatOptions, handOff, Session, say, stop } from "@banyan/core";
import { openai } from "@banyan/models/openai";
import { sqliteStore } from "@banyan/store/sqlite";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
async function listen(agent: Agent, options?: ChatOptions): Promise<Chat> {
  const { value } = await lines.next();
  return agent.chat(value ? say(value) : stop(), options);
}
const model = openai("gpt-5-mini");
const writer = new Agent({ name: "writer", description: "Writes verse.", model, instructions: "You write verse." });
const clerk = new Agent({ name: "clerk", model, tools: [handOff(writer)], onTurn: (_, agent) => listen(agent) });

await using session = await Session.open(sqliteStore({ directory: "conversations" }), "desk", { create: true });
process.on("SIGINT", () => session.interrupt() || process.exit());
for await (const text of (await listen(clerk, { session })).text) process.stdout.write(text);
