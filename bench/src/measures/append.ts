import { join } from "node:path";
import { createId, type Log } from "@banyan/core";
import { sqliteStore } from "@banyan/store/sqlite";
import type { Measure } from "../measure.ts";
import { Bare, bareRow } from "../stores/bare.ts";
import { conversationOf } from "../stores/conversation.ts";
import { temporaryDirectory } from "../stores/temporary.ts";

const SIZES = [1000, 10_000, 100_000] as const;
const FLUSHED = 1000;

/** Makes an empty log; the function that comes back appends one of the events after the other and answers the ms. */
type Appender = (directory: string, durable: boolean, count: number) => Promise<() => number>;

const appenders: Readonly<Record<string, Appender>> = {
  "node:sqlite": async (directory, durable, count) => {
    const bare = new Bare(join(directory, createId()), durable ? "FULL" : "NORMAL");
    const rows = conversationOf(count, 1).map((event) => [bareRow(event)]);
    return () => timed(() => rows.forEach((row) => void bare.append(row)));
  },
  store: async (directory, durable, count) => {
    const log: Log = await sqliteStore({ directory }).open(createId(), { create: true });
    const events = conversationOf(count, log.epoch).map((event) => [event]);
    return () => timed(() => events.forEach((event) => void log.append(event, { durable })));
  },
};

export const append: Measure = {
  name: "append",
  what: "the time for an append of one event to a log, in logs that grow to 1,000, 10,000 and 100,000; and flushed to the disk",
  subjects: Object.keys(appenders),
  bounds: ["node:sqlite"],
  figures: [
    ...SIZES.map((size) => ({ name: `to ${size.toLocaleString("en")}`, unit: "µs" })),
    { name: "flushed", unit: "µs" },
  ],
  rounds: 5,
  async run(subject) {
    const appender = appenders[subject];
    if (!appender) throw new Error(`There is no subject "${subject}".`);
    const directory = temporaryDirectory();
    const each = async (count: number, durable: boolean) =>
      ((await appender(directory, durable, count))() / count) * 1000;
    await each(2000, false);
    const sample: Record<string, number> = {};
    for (const size of SIZES) sample[`to ${size.toLocaleString("en")}`] = await each(size, false);
    sample.flushed = await each(FLUSHED, true);
    return sample;
  },
};

function timed(body: () => void): number {
  const started = performance.now();
  body();
  return performance.now() - started;
}
