// A node of a cluster in its own process, which tests kill. Its argument is NodeProgramOptions as JSON.
import { appendFileSync, existsSync } from "node:fs";
import { defineTool } from "@banyan/core";
import { call, scriptedModel, text } from "@banyan/core/testing";
import { hostOf } from "@banyan/desk/testing";
import { postgresStore } from "@banyan/store/postgres";
import { serve } from "../server.ts";

/** The start options of a node. */
export interface NodeProgramOptions {
  /** The address of the database. */
  readonly url: string;
  readonly token: string;
  /** The file to which tools with effects write. While a file with this name and `.closed` exists, no such call ends. */
  readonly effects: string;
  /** Milliseconds between two fragments of the model. Default 2. */
  readonly pace?: number;
  /** Milliseconds that the node waits for its runs when it is told to end. Default 0. */
  readonly drain?: number;
  /** The port to listen on. Default: a free port. */
  readonly port?: number;
  /** The address for the other nodes. Default: where it listens. */
  readonly address?: string;
  /** A second accepted host name, with the port. */
  readonly allowHost?: string;
  /** Milliseconds that the store waits for an unreachable database. */
  readonly patience?: number;
}

const options: NodeProgramOptions = JSON.parse(process.argv[2] ?? "{}");
const { url, token, effects: file, pace = 2, drain = 0, port = 0, address, patience, allowHost } = options;

const act = defineTool({
  name: "act",
  description: "",
  input: { type: "object" },
  effects: "external",
  execute: async (_input: unknown, { key }) => {
    appendFileSync(file, `${key}\n`);
    do await new Promise((resolve) => setTimeout(resolve, 30));
    while (existsSync(`${file}.closed`));
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

// Each turn: a few words, two calls with effects one after another, more words.
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

const store = postgresStore(url, {
  program: "banyan serve",
  connections: 5,
  ...(patience !== undefined && { patience }),
});
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
  port,
  idle: 2_000,
  ...(allowHost !== undefined && { allowedHosts: [allowHost] }),
  cluster: { shared: store.shared, drain, address },
  log: (line) => process.stderr.write(`${line}\n`),
});
process.stdout.write(`${server.address}\n`);
process.on("SIGTERM", () => {
  server
    .stop()
    .then(() => store.close())
    .then(() => process.exit(0))
    .catch(() => process.exit(1));
});
