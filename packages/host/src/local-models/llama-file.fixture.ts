// Runs a model file in this process, as `local/PATH.gguf`. Arguments: the folder with node-llama-cpp, and the file. Prints
// one line of JSON for each thing that it tries.
import { registerHooks } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Agent, defineTool, type ModelDriver, Session, say } from "@banyan/core";
import { resolveModel } from "@banyan/models";
import { z } from "zod";

const [installed = "", file = ""] = process.argv.slice(2);

// node-llama-cpp is no dependency of this project: look for the package where the test installed it.
registerHooks({
  resolve: (specifier, context, next) =>
    next(
      specifier,
      specifier === "node-llama-cpp"
        ? { ...context, parentURL: pathToFileURL(join(installed, "none.js")).href }
        : context,
    ),
});

const open = (contextSize: number): Promise<ModelDriver> =>
  resolveModel(`local/${file}`, { overrides: { [`local/${file}`]: { contextSize } } });

function print(tried: string, result: object): void {
  process.stdout.write(`${JSON.stringify({ tried, ...result })}\n`);
}

const model = await open(1_024);
const settings = { maxTokens: 6, seed: 1 };

const session = Session.inMemory();
const chat = new Agent({ model, settings, instructions: "You are a friendly forest guide." });
const pieces: string[] = [];
for await (const text of chat.chat(say("Say hello to the forest."), { session }).text) pieces.push(text);
print("stream", { pieces, contextSize: model.contextSize });
const { message } = await chat.send("And to the lake.", { session });
print("usage", { ...message?.usage });

const stop = new AbortController();
const stopped = chat.chat(say("Tell me a long story."), { signal: stop.signal });
stopped.turn.catch(() => {});
for await (const item of stopped) if (item.type === "text.delta") stop.abort();
const after = await chat.send("Say hello again.");
print("abort", { text: after.text });

// The earlier calls of the history show this small model the form of a call.
const read: string[] = [];
const readFile = defineTool({
  name: "read_file",
  description: "Reads a file.",
  input: z.object({ path: z.string() }),
  effects: "none",
  execute: ({ path }) => {
    read.push(path);
    return `the content of ${path}`;
  },
});
const called = Session.inMemory();
await called.addHistory(
  ["a.txt", "b.txt", "c.txt"].flatMap((path) => [
    { role: "user", content: `Read the file ${path}` },
    {
      role: "assistant",
      content: null,
      tool_calls: [
        { id: path, type: "function", function: { name: "read_file", arguments: JSON.stringify({ path }) } },
      ],
    },
    { role: "tool", tool_call_id: path, content: `the content of ${path}` },
    { role: "assistant", content: `Done.` },
  ]),
);
const reader = new Agent({ model, tools: [readFile], settings: { maxTokens: 40 } });
await reader.send("Read the file notes.txt", { session: called });
print("calls", { read });

const output = z.object({ name: z.string().max(20), legs: z.number().optional(), color: z.enum(["red", "grey"]) });
const described = await new Agent({ model, output, settings: { maxTokens: 60, seed: 1 } }).send("Describe a fox.");
print("result", { ...described.result });

const small = await open(256);
const long = "The fox runs over the green hill behind the old house. ".repeat(60);
const refused = await new Agent({ model: small, settings, compaction: false }).send(long).catch(String);
print("overflow", { refused: String(refused) });
