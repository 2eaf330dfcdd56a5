import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Event, Store } from "@banyan/core";
import type { Log } from "@banyan/core/stores";
import { onTestFinished } from "vitest";
import { sqliteStore } from "./index.ts";

export const ID = "01k00000000000000000000001";
export const OTHER = "01k00000000000000000000002";

/** Creates a temporary directory that is removed when the test ends. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "banyan-store-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** Opens a store that is closed when the test ends. */
export function storeIn(directory: string): Store {
  const store = sqliteStore({ directory });
  onTestFinished(() => store.close());
  return store;
}

export function fileOf(directory: string, id = ID): string {
  return join(directory, "conversations", `${id}.sqlite`);
}

/** Returns `count` different events of about 200 bytes that continue the log. */
export function events(log: Log, count: number): Event[] {
  return Array.from({ length: count }, (_, index) => {
    const seq = log.seq + 1 + index;
    const text = `message ${seq} ${"é".repeat(40)}`;
    const parts = [{ type: "text", text }] as const;
    return {
      type: "message.added",
      message: `m${seq}`,
      parentId: null,
      role: "user",
      parts,
      seq,
      epoch: log.epoch,
      at: seq,
    };
  });
}

/** Writes a conversation of `count` events and closes it. */
export async function write(store: Store, id: string, count: number): Promise<Event[]> {
  const log = await store.open(id, { create: true });
  const written = events(log, count);
  await log.append(written, { durable: true });
  await log.close();
  return written;
}

export async function readAll(log: Log): Promise<Event[]> {
  const all: Event[] = [];
  for await (const batch of log.read()) all.push(...batch);
  return all;
}

/** Returns the number of conversations in the catalogue. */
export async function entriesIn(directory: string): Promise<unknown> {
  const { DatabaseSync } = await import("node:sqlite");
  using database = new DatabaseSync(join(directory, "catalogue.sqlite"), { readOnly: true });
  return database.prepare("SELECT count(*) AS count FROM conversations").get()?.count;
}
