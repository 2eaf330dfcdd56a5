// A server in its own process whose turns Restate drives; tests kill it. Its argument is NodeProgramOptions as JSON.
import { appendFileSync } from "node:fs";
import { defineTool } from "@banyan/core";
import { call, scriptedModel, text } from "@banyan/core/testing";
import { serve } from "@banyan/server";
import { hostOf } from "@banyan/server/testing";
import { postgresStore } from "@banyan/store/postgres";
import { RestateDriver, readRestate } from "../index.ts";

export interface NodeProgramOptions {
  readonly url: string;
  readonly token: string;
  /** A file to which tools append: keys of calls with effects, "waiting" and "stopped". */
  readonly effects: string;
  /** Value of `--runs restate=`. If absent, leases in the database drive the turns. */
  readonly restate?: string;
  /** Milliseconds between two fragments of the model. */
  readonly pace: number;
}

const { url, token, effects, restate, pace }: NodeProgramOptions = JSON.parse(process.argv[2] ?? "{}");

const act = defineTool({
  name: "act",
  description: "",
  input: { type: "object" },
  effects: "external",
  execute: async (_input: unknown, { key }) => {
    appendFileSync(effects, `${key}\n`);
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
      appendFileSync(effects, "waiting\n");
      signal.addEventListener("abort", () => {
        appendFileSync(effects, "stopped\n");
        reject(signal.reason);
      });
    }),
});

// Each turn: some words, two calls with effects in order, more words.
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
  { pace },
);

const log = (line: string) => process.stderr.write(`${line}\n`);
const store = postgresStore(url, { program: "banyan serve", connections: 5 });
const { host } = hostOf(store, {
  model,
  tools: [act, wait],
  permission: ({ tool, conversation }) => {
    return { decision: tool.name === "act" && conversation.id.startsWith("ask") ? "ask" : "allow" };
  },
});
const driver = restate === undefined ? undefined : new RestateDriver(readRestate(restate), { log });
const cluster = { shared: store.shared, driver, drain: 0 };
const server = await serve({ host, token, port: 0, idle: 2_000, cluster, log });
process.stdout.write(`${server.address}\n`);
process.on("SIGTERM", () => {
  server
    .stop()
    .then(() => store.close())
    .then(() => process.exit(0))
    .catch(() => process.exit(1));
});
