import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { Client, WatchedConversation } from "@banyan/client";
import { connect } from "@banyan/client/node";
import { createId } from "@banyan/core";
import type { Measure } from "../measure.ts";
import { ownDatabase } from "../nodes/database.ts";

/** Concurrent turns over all nodes, and turns per conversation. The first turn is not counted. */
const TURNS = 100;
const TIMES = 4;
/** Milliseconds between two fragments of the answer during which a node is killed. */
const PACE = 200;

const TOKEN = createId() + createId();
const NODES: Readonly<Record<string, number>> = { "1 node": 1, "2 nodes": 2, "3 nodes": 3 };

/** Clients of each node: one client may not send a hundred requests at once. */
const CLIENTS = 10;

interface Node extends Disposable {
  readonly process: ChildProcess;
  readonly clients: readonly Client[];
}

export const nodes: Measure = {
  name: "nodes",
  what: "servers that share one PostgreSQL, all on this machine: the time between the ends of two turns, of 100 at once with one call each; and from the death of the one that has a conversation to its next event",
  subjects: Object.keys(NODES),
  bounds: ["1 node"],
  figures: [
    { name: "turn", unit: "ms" },
    { name: "from its death to the next event", unit: "s" },
  ],
  rounds: 3,
  async run(subject) {
    const count = NODES[subject];
    if (count === undefined) throw new Error(`There is no subject "${subject}".`);
    await using database = await ownDatabase();
    const sample: Record<string, number> = { turn: await withNodes(database.url, count, 0, eachTurn) };
    if (count > 1) sample["from its death to the next event"] = await withNodes(database.url, count, PACE, afterDeath);
    return sample;
  },
};

async function withNodes<Result>(
  url: string,
  count: number,
  pace: number,
  work: (all: readonly Node[]) => Promise<Result>,
): Promise<Result> {
  using started = new DisposableStack();
  const starting = Array.from({ length: count }, async () => started.use(await start(url, pace)));
  return await work(await Promise.all(starting));
}

async function start(url: string, pace: number): Promise<Node> {
  const child = fork(new URL("../nodes/node.ts", import.meta.url), [url, String(pace), TOKEN], { execArgv: [] });
  const [address] = (await once(child, "message")) as [string];
  const clients = await Promise.all(
    Array.from({ length: CLIENTS }, () => connect({ address, token: TOKEN, client: "bench" })),
  );
  return {
    process: child,
    clients,
    [Symbol.dispose]() {
      for (const client of clients) client.close();
      child.kill("SIGKILL");
    },
  };
}

async function eachTurn(all: readonly Node[]): Promise<number> {
  const talks = await Promise.all(
    Array.from({ length: TURNS }, async (_, index) => {
      const { clients } = all[index % all.length] as Node;
      const client = clients[index % CLIENTS] as Client;
      const { conversation } = await client.ask("conversation.create", {});
      return () => say(client, conversation);
    }),
  );
  await Promise.all(talks.map((talk) => talk()));
  const began = performance.now();
  for (let time = 0; time < TIMES; time++) await Promise.all(talks.map((talk) => talk()));
  return (performance.now() - began) / (TURNS * TIMES);
}

/** Runs a turn to its end. */
async function say(client: Client, conversation: string): Promise<void> {
  const watched = await client.watch(conversation).loaded;
  const ended = next(watched, "run.ended");
  await client.ask("turn.say", { conversation, parts: [{ type: "text", text: "go" }] });
  await ended;
}

/** Returns seconds from the death of a node to the first event at a client of another node. */
async function afterDeath([first, second]: readonly Node[]): Promise<number> {
  const [one, other] = [first?.clients[0], second?.clients[0]];
  if (!first || !one || !other) throw new Error("There are no two nodes.");
  const { conversation } = await one.ask("conversation.create", {});
  await one.ask("turn.say", { conversation, parts: [{ type: "text", text: "go" }] });
  const watched = await other.watch(conversation).loaded;
  await next(watched, "text.delta");
  first.process.kill("SIGKILL");
  await once(first.process, "exit");
  const began = performance.now();
  const { state } = watched;
  await new Promise<void>((resolve) => watched.follow({ renewed: (now) => now !== state && resolve() }));
  await next(watched, "text.delta");
  return (performance.now() - began) / 1_000;
}

function next(watched: WatchedConversation, type: string): Promise<void> {
  return new Promise((resolve) => {
    const stop = watched.follow({
      item: (item) => {
        if (item.type !== type) return;
        stop();
        resolve();
      },
    });
  });
}
