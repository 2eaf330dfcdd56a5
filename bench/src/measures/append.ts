import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createId } from "@banyan/core";
import type { Log } from "@banyan/core/stores";
import { sqliteStore } from "@banyan/store/sqlite";
import type { Measure } from "../measure.ts";
import { Bare, bareRow } from "../stores/bare.ts";
import { conversationOf } from "../stores/conversation.ts";
import { temporaryDirectory } from "../stores/temporary.ts";

const SIZES = [1000, 10_000, 100_000] as const;
const FLUSHED = 1000;
const BATCH = 100;

/** Creates an empty log. The returned function appends the events in batches, and returns milliseconds. */
type Appender = (directory: string, durable: boolean, count: number, batch: number) => Promise<() => number>;

const appenders: Readonly<Record<string, Appender>> = {
  "a file": async (directory, durable, count, batch) => {
    const file = openSync(join(directory, createId()), "a");
    const lines = inBatches(
      conversationOf(count, 1).map((event) => `${JSON.stringify(event)}\n`),
      batch,
    );
    return () => {
      const taken = timed(() => {
        for (const batch of lines) {
          writeSync(file, batch.join(""));
          if (durable) fdatasyncSync(file);
        }
      });
      closeSync(file);
      return taken;
    };
  },
  "node:sqlite": async (directory, durable, count, batch) => {
    const bare = new Bare(join(directory, createId()), durable ? "FULL" : "NORMAL");
    const batches = inBatches(conversationOf(count, 1).map(bareRow), batch);
    return () => timed(() => batches.forEach((rows) => void bare.append(rows)));
  },
  store: async (directory, durable, count, batch) => {
    const log: Log = await sqliteStore({ directory }).open(createId(), { create: true });
    const batches = inBatches(conversationOf(count, log.epoch), batch);
    return () => timed(() => batches.forEach((events) => void log.append(events, { durable })));
  },
};

export const append: Measure = {
  name: "append",
  what: "the time for an append of one event to a log, in logs that grow to 1,000, 10,000 and 100,000; and flushed to the disk, one by one and 100 at a time",
  subjects: Object.keys(appenders),
  bounds: ["a file", "node:sqlite"],
  figures: [
    ...SIZES.map((size) => ({ name: `to ${size.toLocaleString("en")}`, unit: "µs" })),
    { name: "flushed", unit: "µs" },
    { name: "flushed, 100 at a time", unit: "µs" },
  ],
  rounds: 5,
  async run(subject) {
    const appender = appenders[subject];
    if (!appender) throw new Error(`There is no subject "${subject}".`);
    const directory = temporaryDirectory();
    const each = async (count: number, durable: boolean, batch = 1) =>
      ((await appender(directory, durable, count, batch))() / count) * 1000;
    await each(2000, false);
    const sample: Record<string, number> = {};
    for (const size of SIZES) sample[`to ${size.toLocaleString("en")}`] = await each(size, false);
    sample.flushed = await each(FLUSHED, true);
    sample["flushed, 100 at a time"] = await each(FLUSHED * BATCH, true, BATCH);
    return sample;
  },
};

function inBatches<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size),
  );
}

function timed(body: () => void): number {
  const started = performance.now();
  body();
  return performance.now() - started;
}
