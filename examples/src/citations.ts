// The model marks a statement that comes from memory, and the turn has the cited entry.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent } from "@banyan/core";
import { scriptedModel } from "@banyan/core/testing";
import { sqliteMemory } from "@banyan/memory";

const directory = await mkdtemp(join(tmpdir(), "citations-"));
const memory = sqliteMemory({ file: join(directory, "memory.sqlite") });
await memory.add({ text: "The user's favourite tree is the banyan." });

const model = scriptedModel(["You like the banyan [m1]."]);
const agent = new Agent({ model, memory: { store: memory, cite: true } });
const { text, citations } = await agent.send("Which tree do I like?");
console.log(text);
for (const { mark, text: cited } of citations) console.log(`${mark}: ${cited}`);

await memory.close();
await rm(directory, { recursive: true });
