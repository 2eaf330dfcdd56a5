// A chat in the terminal. The turn handler waits for the next line. An empty line ends the chat.
import { createInterface } from "node:readline";
import { Agent, type Chat, say, stop } from "@banyan/core";
import { resolveModel } from "@banyan/models";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
async function listen(agent: Agent): Promise<Chat> {
  process.stdout.write("\n> ");
  const { value } = await lines.next();
  return agent.chat(value ? say(value) : stop());
}
const model = await resolveModel("demo/offline", { env: process.env });
const agent = new Agent({ model, onTurn: (_, agent) => listen(agent) });
for await (const item of await listen(agent)) if (item.type === "text.delta") process.stdout.write(item.text);
await lines.return?.();
