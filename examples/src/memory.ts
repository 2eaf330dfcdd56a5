// A memory: what was said in one conversation is known in the next, unless it is switched off there.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, Session, say } from "@banyan/core";
import { scriptedModel } from "@banyan/core/testing";
import { memoryTools, sqliteMemory } from "@banyan/memory";

const directory = await mkdtemp(join(tmpdir(), "memory-"));
const memory = sqliteMemory({
  file: join(directory, "memory.sqlite"),
  directory: process.cwd(),
  redact: (text) => text.replace(/hunter2/g, "[password]"),
});

const model = scriptedModel(() => "I see.");
const agent = new Agent({ model, tools: memoryTools(memory), memory: { store: memory, limit: 5 } });
await agent.send("My favourite colour is teal, and my password is hunter2.", { session: Session.inMemory() });
await memory.add({ text: "The user's favourite tree is the banyan." });

for await (const item of agent.chat(say("Which colours do I like?"), { session: Session.inMemory() })) {
  if (item.type === "memory.recalled") for (const { text } of item.items) console.log(`recalled: ${text}`);
}

for (const { id, kind, text } of await memory.list()) console.log(`${id} ${kind}: ${text}`);
const [found] = await memory.search("favourite trees");
if (found) await memory.remove(found.id);
console.log(`${(await memory.list()).length} left`);

const secret = Session.inMemory();
await memory.setOn(secret.id, false);
await agent.send("Tell nobody which colour I like.", { session: secret });
console.log(`${(await memory.list()).length} left`);

await memory.close();
await rm(directory, { recursive: true });
