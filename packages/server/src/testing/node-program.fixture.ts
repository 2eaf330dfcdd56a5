// A node of several, in a process of its own, to be killed. Its arguments: the address of the database, the token, a file to which
// tools with effects write, and milliseconds between two fragments of the model.
import { appendFileSync } from "node:fs";
import { defineTool } from "@banyan/core";
import { call, scriptedModel, text } from "@banyan/core/testing";
import { postgresStore } from "@banyan/store/postgres";
import { serve } from "../server.ts";
import { hostOf } from "./served-host.fixture.ts";

const [url = "", token = "", file = "", pace = "2", drain = "0"] = process.argv.slice(2);

const act = defineTool({
  name: "act",
  description: "",
  input: { type: "object" },
  effects: "external",
  execute: async (_input: unknown, { key }) => {
    appendFileSync(file, `${key}\n`);
    await new Promise((resolve) => setTimeout(resolve, 30));
    return "acted";
  },
});

const wait = defineTool({
  name: "wait",
  description: "",
  input: { type: "object" },
  effects: "none",
  execute: (_input: unknown, { signal }) =>
    new Promise((_resolve, reject) => {
      appendFileSync(file, "waiting\n");
      signal.addEventListener("abort", () => {
        appendFileSync(file, "stopped\n");
        reject(signal.reason);
      });
    }),
});

// Each turn: a few words, two calls with effects one after the other, more words.
const model = scriptedModel(
  ({ messages }) => {
    const said = JSON.stringify(messages);
    if (said.includes("please wait")) return [text("Waiting. "), call("wait", {}, `wait_${crypto.randomUUID()}`)];
    const acted = said.split('"acted"').length - 1 + (said.split("took effect is unknown").length - 1);
    const words = Array.from({ length: 15 }, (_, index) => `word${index} `);
    return acted < 2
      ? [text(...words), call("act", { step: acted }, `act_${crypto.randomUUID()}`)]
      : [text(...words, "Done.")];
  },
  { pace: Number(pace) },
);

const store = postgresStore(url, { program: "banyan serve", connections: 5 });
const { host } = hostOf(store, {
  model,
  tools: [act, wait],
  permission: ({ tool, conversation }) => {
    return { decision: tool.name === "act" && conversation.id.startsWith("ask") ? "ask" : "allow" };
  },
});
const server = await serve({
  host,
  token,
  port: 0,
  idle: 2_000,
  cluster: { shared: store.shared, drain: Number(drain) },
});
process.stdout.write(`${server.address}\n`);
process.on("SIGTERM", () => {
  server
    .stop()
    .then(() => store.close())
    .then(() => process.exit(0))
    .catch(() => process.exit(1));
});
