import { existsSync, readdirSync } from "node:fs";
import { createId } from "@banyan/core";
import type { Log } from "@banyan/core/stores";
import { sqliteStore } from "@banyan/store/sqlite";
import type { Measure } from "../measure.ts";
import { conversationOf } from "../stores/conversation.ts";
import { temporaryDirectory } from "../stores/temporary.ts";

/** The number of timed appends: many with open files, few if each may wait for the disk. */
const APPENDS = { open: 20_000, reopened: 1000 } as const;
const FLUSHED = 500;

/** The number of active conversations, and of open files. */
const subjects: Readonly<Record<string, { readonly conversations: number; readonly openFiles: number }>> = {
  "50, all open": { conversations: 50, openFiles: 50 },
  "1,000, all open": { conversations: 1000, openFiles: 1000 },
  "1,000, 256 open": { conversations: 1000, openFiles: 256 },
  "1,000, 64 open": { conversations: 1000, openFiles: 64 },
  "2,000, 1,000 open": { conversations: 2000, openFiles: 1000 },
};

export const many: Measure = {
  name: "many",
  what: "many conversations that are written to at once by one process, with all of their files open or some",
  subjects: Object.keys(subjects),
  bounds: ["50, all open"],
  figures: [
    { name: "open files", unit: "1" },
    { name: "memory", unit: "MB" },
    { name: "append, one conversation after the other", unit: "µs" },
    { name: "append, nine of ten to 50 of them", unit: "µs" },
    { name: "flushed append, one after the other", unit: "µs" },
  ],
  rounds: 3,
  async run(subject) {
    const { conversations, openFiles } = subjects[subject] ?? { conversations: 0, openFiles: 0 };
    if (conversations === 0) throw new Error(`There is no subject "${subject}".`);
    const store = sqliteStore({ directory: temporaryDirectory(), openFiles });
    globalThis.gc?.();
    const before = { memory: process.memoryUsage.rss(), files: openFileCount() };
    const logs: Log[] = [];
    while (logs.length < conversations) logs.push(await store.open(createId(), { create: true }));
    const append = (log: Log, durable = false) => {
      void log.append(conversationOf(1, log.epoch, log.seq + 1), { durable });
    };
    for (let round = 0; round < 2; round++) for (const log of logs) append(log);
    globalThis.gc?.();
    const sample: Record<string, number> = {
      "open files": openFileCount() - before.files,
      memory: (process.memoryUsage.rss() - before.memory) / 1e6,
    };
    const each = (count: number, place: (index: number) => number, durable = false) => {
      const started = performance.now();
      for (let index = 0; index < count; index++) append(logs[place(index) % logs.length] as Log, durable);
      return ((performance.now() - started) / count) * 1000;
    };
    const turns = openFiles < conversations ? APPENDS.reopened : APPENDS.open;
    sample["append, one conversation after the other"] = each(turns, (index) => index);
    const mostlyFifty = (index: number) => (index % 10 === 0 ? (index * 7919) % conversations : index % 50);
    sample["append, nine of ten to 50 of them"] = each(turns, mostlyFifty);
    sample["flushed append, one after the other"] = each(FLUSHED, (index) => index, true);
    await store.close();
    return sample;
  },
};

/** Returns the number of open files; NaN if the system does not report it. */
function openFileCount(): number {
  return existsSync("/proc/self/fd") ? readdirSync("/proc/self/fd").length : Number.NaN;
}
