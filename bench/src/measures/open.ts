import { join } from "node:path";
import { createId, Session } from "@banyan/core";
import { sqliteStore } from "@banyan/store/sqlite";
import type { Measure } from "../measure.ts";
import { median } from "../statistics.ts";
import { Bare, bareRow } from "../stores/bare.ts";
import { conversationOf } from "../stores/conversation.ts";
import { temporaryDirectory } from "../stores/temporary.ts";

const SIZES = [
  { events: 1000, times: 30 },
  { events: 10_000, times: 9 },
  { events: 100_000, times: 3 },
] as const;

/** Writes a log of this many events. The returned function opens, reads and closes the log. */
type Opener = (directory: string, count: number) => Promise<() => Promise<number>>;

async function stored(directory: string, count: number) {
  const store = sqliteStore({ directory });
  const id = createId();
  const log = await store.open(id, { create: true });
  for (let seq = 1; seq <= count; seq += 1000) await log.append(conversationOf(1000, log.epoch, seq));
  await log.close();
  return { store, id };
}

const openers: Readonly<Record<string, Opener>> = {
  "node:sqlite": async (directory, count) => {
    const file = join(directory, createId());
    const written = new Bare(file);
    written.append(conversationOf(count, 1).map(bareRow));
    written.close();
    return async () => {
      const bare = new Bare(file);
      const read = bare.readAll();
      bare.close();
      return read;
    };
  },
  store: async (directory, count) => {
    const { store, id } = await stored(directory, count);
    return async () => {
      const log = await store.open(id);
      let read = 0;
      for await (const events of log.read()) read += events.length;
      await log.close();
      return read;
    };
  },
  session: async (directory, count) => {
    const { store, id } = await stored(directory, count);
    return async () => {
      const session = await Session.open(store, id);
      const messages = session.state.messages.size;
      await session.close();
      // A user message is one event, an answer two.
      return messages === 2 * Math.ceil(count / 3) || messages === Math.ceil((2 * count) / 3) ? count : messages;
    };
  },
};

export const open: Measure = {
  name: "open",
  what: "the time to open a conversation of 1,000, 10,000 and 100,000 events and read it: rows, events, or a state made of them",
  subjects: Object.keys(openers),
  bounds: ["node:sqlite"],
  figures: SIZES.map(({ events }) => ({ name: `${events.toLocaleString("en")} events`, unit: "ms" })),
  targets: [
    { figure: "10,000 events", subject: "session", of: "node:sqlite", most: 1.5 },
    { figure: "100,000 events", subject: "session", of: "node:sqlite", most: 1.5 },
  ],
  rounds: 5,
  async run(subject) {
    const opener = openers[subject];
    if (!opener) throw new Error(`There is no subject "${subject}".`);
    const directory = temporaryDirectory();
    const sample: Record<string, number> = {};
    for (const { events, times } of SIZES) {
      const opened = await opener(directory, events);
      await opened();
      const taken: number[] = [];
      for (let time = 0; time < times; time++) {
        const started = performance.now();
        const read = await opened();
        taken.push(performance.now() - started);
        if (read !== events) throw new Error(`${read} events were read; ${events} were written.`);
      }
      sample[`${events.toLocaleString("en")} events`] = median(taken);
    }
    return sample;
  },
};
