import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "@banyan/client";
import { createId, type ModelDriver } from "@banyan/core";
import { Desk } from "@banyan/desk";
import type { ListedConversation } from "@banyan/protocol";
import { hostOf } from "@banyan/server/testing";
import { sqliteStore } from "@banyan/store/sqlite";
import { cpuTime, type Measure } from "../measure.ts";
import { conversationOf } from "../stores/conversation.ts";
import { temporaryDirectory } from "../stores/temporary.ts";

const COUNTS: Readonly<Record<string, number>> = { "1,000": 1_000, "5,000": 5_000, "20,000": 20_000 };
/** Turns of each kind, watched and unwatched in turn, and milliseconds between two turns: each gets its own frame. */
const TURNS = 20;
const PAUSE = 350;
/** Repeated lists and searches, and milliseconds of each look at the event loop. */
const REPEATED = 5;
const LOOK = 400;

export const lists: Measure = {
  name: "lists",
  what: "what stored conversations add to a turn whose list is watched, and how long a list or a search stalls the event loop",
  subjects: Object.keys(COUNTS),
  bounds: ["1,000"],
  figures: [
    { name: "turn, unwatched", unit: "CPU ms" },
    { name: "turn, watched", unit: "CPU ms" },
    { name: "watched ÷ unwatched", unit: "1" },
    { name: "longest delay without lists", unit: "ms" },
    { name: "first list adds", unit: "ms" },
    { name: "a list adds", unit: "ms" },
    { name: "a search adds", unit: "ms" },
  ],
  targets: [
    { figure: "watched ÷ unwatched", subject: "20,000", most: 1.1 },
    { figure: "first list adds", subject: "20,000", most: 20 },
    { figure: "a list adds", subject: "20,000", most: 20 },
    { figure: "a search adds", subject: "20,000", most: 20 },
  ],
  rounds: 3,
  async run(subject) {
    const count = COUNTS[subject];
    if (count === undefined) throw new Error(`There is no subject "${subject}".`);
    const directory = temporaryDirectory();
    await fill(directory, count);
    const store = sqliteStore({ directory });
    const desk = new Desk({ host: hostOf(store, { model }).host });
    const client = new Client(desk.link());
    const { conversation } = await client.ask("conversation.create", {});
    const turn = async () => {
      await client.ask("turn.say", { conversation, parts: [{ type: "text", text: "Go on." }] });
      while ((desk.conversations.ifOpen(conversation)?.session.state.runs.size ?? 0) > 0) await sleep(1);
    };
    for (let index = 0; index < TURNS; index++) await turn();
    const idle = await longestDelay(() => sleep(LOOK));
    const first = await longestDelay(() => listAll(client));
    const list = await longestDelay(async () => {
      for (let index = 0; index < REPEATED; index++) {
        await turn();
        await listAll(client);
      }
    });
    // The first search makes the index.
    await client.ask("conversation.search", { query: "banyan" });
    const search = await longestDelay(async () => {
      for (let index = 0; index < REPEATED; index++) {
        await turn();
        await client.ask("conversation.search", { query: "banyan crown tree roots".slice(0, 6 + 3 * index) });
      }
    });
    const spent = { watched: 0, unwatched: 0 };
    for (let index = 0; index < 2 * TURNS; index++) {
      const on = index % 2 === 0;
      await client.ask("conversation.watch", { on });
      await sleep(PAUSE);
      const before = cpuTime();
      await turn();
      await sleep(PAUSE);
      spent[on ? "watched" : "unwatched"] += (cpuTime() - before) / TURNS;
    }
    client.close();
    await desk.stop();
    await store.close();
    return {
      "turn, unwatched": spent.unwatched,
      "turn, watched": spent.watched,
      "watched ÷ unwatched": spent.watched / spent.unwatched,
      "longest delay without lists": idle,
      "first list adds": Math.max(0, first - idle),
      "a list adds": Math.max(0, list - idle),
      "a search adds": Math.max(0, search - idle),
    };
  },
};

/** Lists all conversations as the page does: page by page. */
async function listAll(client: Client): Promise<void> {
  for (let last: ListedConversation | undefined; ; ) {
    const after = last && { id: last.id, updatedAt: last.updatedAt };
    const { conversations } = await client.ask("conversation.list", { programs: true, ...(after && { after }) });
    last = conversations.at(-1);
    if (conversations.length !== 500 || last?.id === after?.id) return;
  }
}

/** Returns the longest delay of a timer of 1 ms while `body` runs, in milliseconds. */
async function longestDelay(body: () => Promise<unknown>): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await body();
  await sleep(20);
  delay.disable();
  return delay.max / 1e6;
}

/** Fills a store with copies of a conversation of 40 messages. */
async function fill(directory: string, count: number): Promise<void> {
  const store = sqliteStore({ directory });
  const log = await store.open(createId(), { create: true });
  await log.append(conversationOf(40, log.epoch, 1));
  await log.close();
  await store.close();
  const folder = join(directory, "conversations");
  mkdirSync(folder, { recursive: true });
  const [file = ""] = readdirSync(folder).filter((name) => name.endsWith(".sqlite"));
  const bytes = readFileSync(join(folder, file));
  for (let made = 1; made < count; made++) writeFileSync(join(folder, `${createId()}.sqlite`), bytes, { mode: 0o600 });
}

/** A model whose answer has 20 pieces. */
const model: ModelDriver = {
  id: "bench/model",
  family: "bench",
  async stream(_request, sink) {
    for (let piece = 0; piece < 20; piece++) {
      sink.push([{ type: "text", text: "fifty bytes of an answer that goes on and on. . . " }]);
      await sleep(1);
    }
    const usage = { input: 1, cached: 0, cacheWrite: 0, output: 1, reasoning: 0 };
    sink.push([{ type: "finish", reason: "stop", usage }]);
  },
};
