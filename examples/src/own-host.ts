// An application around an agent records what it does outside of turns, so that the model and every client know.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, defineTool, pathTo, Session, textOf } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";

const directory = await mkdtemp(join(tmpdir(), "own-host-"));
const notes = join(directory, "notes.md");
const write = defineTool({
  name: "write_notes",
  description: "Writes the notes.",
  input: { type: "object" },
  effects: "external",
  execute: () => writeFile(notes, "Buy milk.\n").then(() => "Written."),
});
const model = scriptedModel([[call("write_notes", {}, "call-1")], "I wrote them.", "Then I write them again."]);
const agent = new Agent({ model, tools: [write] });

const session = Session.inMemory();
await agent.send("Write down what we need.", { session });

// The user wants the file removed. No turn begins on this branch until the removal is recorded.
const { leaf } = session.state;
await session.hold(leaf, async (held) => {
  const removed = (await readFile(notes, "utf8")).split("\n").length - 1;
  await rm(notes);
  const change = { path: "notes.md", kind: "deleted", before: "v1", after: null, added: 0, removed, diff: "" } as const;
  await session.notes.fileChange("call-1", change);
  held.moveTo(await session.add("notes.md is gone again.", { at: leaf, author: "system" }));
});

await agent.send("Go on.", { session });
console.log(pathTo(session.state, session.state.leaf).map(textOf).filter(Boolean).join("\n"));
await session.close();
await rm(directory, { recursive: true });
