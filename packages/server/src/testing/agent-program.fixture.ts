// A developer's own agent behind a server, in its own process. Arguments: `serve` or `handler`, the folder of the store, and the
// token. A refund asks first, and is noted in a file, so that tests see that it happened once.
import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Agent, defineTool, say } from "@banyan/core";
import { call, scriptedModel, text } from "@banyan/core/testing";
import { sqliteStore } from "@banyan/store/sqlite";
import { handler, serve } from "../index.ts";

const [form, directory = "", token = ""] = process.argv.slice(2);
const refund = defineTool({
  name: "refund",
  description: "Pays an order back.",
  input: { type: "object", properties: { order: { type: "string" } } },
  effects: "external",
  execute() {
    appendFileSync(join(directory, "refunds.txt"), "refund\n");
    return "12 EUR are on their way.";
  },
});
// "at length" gets a long answer, "refund" a call, and everything else the user's own words.
const model = scriptedModel(
  ({ messages }) => {
    const last = messages.at(-1);
    const said = JSON.stringify(last);
    if (last?.role !== "user") return "Paid back.";
    if (said.includes("at length")) return [text(...Array.from({ length: 200 }, (_, index) => `word${index} `))];
    if (said.includes("refund")) return [call("refund", { order: "7" }, `refund_${messages.length}`)];
    return said.includes("continue") ? "I continue." : `Heard: ${said}`;
  },
  { pace: 5 },
);
const agent = new Agent({
  name: "shop",
  model,
  tools: [refund],
  permission: ({ tool }) => ({ decision: tool.effects === "none" ? "allow" : "ask" }),
  onTurn: (_, own, turn) => (turn.text.includes("twice") && turn.steps < 2 ? own.chat(say("continue")) : undefined),
});
const store = sqliteStore({ directory });

async function start(): Promise<{ address: string; stop(): Promise<void> }> {
  if (form === "serve") return serve(agent, { store, token });
  const { node, close } = handler(agent, { store, token });
  const server = createServer(node);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = async () => {
    await close();
    server.closeAllConnections();
    server.close();
  };
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
}
const running = await start();
process.once("SIGTERM", async () => {
  await running.stop();
  await store.close();
});
process.stdout.write(`${running.address}\n`);
