import { createId } from "@banyan/core";
import { postgresStore } from "@banyan/store/postgres";
import pg from "pg";
import type { Measure } from "../measure.ts";
import { ownDatabase } from "../nodes/database.ts";
import { bareRow } from "../stores/bare.ts";
import { conversationOf } from "../stores/conversation.ts";

/** The number of concurrent writers, with the sequential appends of each. */
const AT_ONCE = { 1: 500, 8: 250, 32: 125 } as const;

/** Appends events to one log, one after the other. */
type Writer = (count: number, durable: boolean) => Promise<void>;

const subjects: Readonly<
  Record<string, (url: string, writers: number) => Promise<[Writer[], () => Promise<unknown>]>>
> = {
  "bare INSERT": async (url, writers) => {
    const clients = Array.from({ length: writers }, () => new pg.Client({ connectionString: url }));
    for (const client of clients) await client.connect();
    await clients[0]?.query(
      "CREATE TABLE IF NOT EXISTS bare (log text, seq bigint, epoch bigint, at bigint, type text, body text, crc bigint, PRIMARY KEY (log, seq))",
    );
    const writer = (client: pg.Client): Writer => {
      const log = createId();
      let seq = 0;
      return async (count, durable) => {
        await client.query(`SET synchronous_commit = ${durable ? "on" : "off"}`);
        for (const event of conversationOf(count, 1, seq + 1)) {
          const values = [log, ...bareRow(event)];
          await client.query({ name: "insert", text: "INSERT INTO bare VALUES ($1, $2, $3, $4, $5, $6, $7)", values });
        }
        seq += count;
      };
    };
    return [clients.map(writer), () => Promise.all(clients.map((client) => client.end()))];
  },
  store: async (url, writers) => {
    const store = postgresStore(url);
    const logs = await Promise.all(Array.from({ length: writers }, () => store.open(createId(), { create: true })));
    const all = logs.map(
      (log): Writer =>
        async (count, durable) => {
          for (const event of conversationOf(count, log.epoch, log.seq + 1)) await log.append([event], { durable });
        },
    );
    return [all, () => store.close()];
  },
};

export const postgres: Measure = {
  name: "postgres",
  what: "the time between two appends of one event to a PostgreSQL on this machine, by 1, 8 and 32 writers at once, each to a log of its own",
  subjects: Object.keys(subjects),
  bounds: ["bare INSERT"],
  figures: Object.keys(AT_ONCE).flatMap((writers) => [
    { name: `${writers} at once`, unit: "µs" },
    { name: `${writers} at once, flushed`, unit: "µs" },
  ]),
  rounds: 5,
  async run(subject) {
    const start = subjects[subject];
    if (!start) throw new Error(`There is no subject "${subject}".`);
    await using database = await ownDatabase();
    const sample: Record<string, number> = {};
    for (const [writers, count] of Object.entries(AT_ONCE)) {
      const [all, end] = await start(database.url, Number(writers));
      await Promise.all(all.map((write) => write(50, false)));
      for (const durable of [false, true]) {
        const began = performance.now();
        await Promise.all(all.map((write) => write(count, durable)));
        const each = ((performance.now() - began) / (count * all.length)) * 1_000;
        sample[`${writers} at once${durable ? ", flushed" : ""}`] = each;
      }
      await end();
    }
    return sample;
  },
};
