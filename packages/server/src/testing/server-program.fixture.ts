// A server in its own process, which tests kill. Its arguments: the directory of its store, the token, and further accepted host
// names.
import { defineTool } from "@banyan/core";
import { call, reasoning, scriptedModel, text } from "@banyan/core/testing";
import { hostOf } from "@banyan/desk/testing";
import { sqliteStore } from "@banyan/store/sqlite";
import { serve } from "../server.ts";

const [directory = "", token = "", ...allowedHosts] = process.argv.slice(2);
const words = (count: number) => Array.from({ length: count }, (_, index) => `word${index} `);

const look = defineTool({
  name: "look",
  description: "",
  input: { type: "object" },
  effects: "none",
  execute: async (_input: unknown, { progress }) => {
    progress("looking");
    await new Promise((resolve) => setTimeout(resolve, 20));
    return "seen";
  },
});

// Each turn: reasoning, text and a call, then more text. A message with "at length" gets an answer too long to wait for.
const model = scriptedModel(
  ({ messages }) => {
    const last = messages.at(-1);
    if (JSON.stringify(last).includes("at length")) return [text(...words(10_000))];
    if (last?.role !== "user") return [text(...words(60))];
    return [reasoning(...words(30)), text(...words(60)), call("look", {}, `look_${messages.length}_${Date.now()}`)];
  },
  { pace: 2 },
);

const store = sqliteStore({ directory, program: "banyan serve" });
const { host } = hostOf(store, { model, tools: [look] });
const server = await serve({ host, token, port: 0, allowedHosts });
process.stdout.write(`${server.address}\n`);
