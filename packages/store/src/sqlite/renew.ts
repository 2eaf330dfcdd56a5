import { copyFileSync, linkSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { createId } from "@banyan/core";
import { rowOf } from "../row.ts";
import { readStatements } from "./connection.ts";
import { keepPassedOver, makeSchema, passedOver } from "./conversation-schema.ts";
import { createFile, flushDirectory, openDatabase, reading, transaction } from "./database.ts";
import { storeError } from "./error.ts";
import { EventReader } from "./event-reader.ts";
import { type FileOwner, ownerFrom } from "./owner.ts";

/**
 * Puts a new file in the place of one that can be read and not be written to any more: with all of its events that can be
 * read, the same numbers, and no owner. The old one stays beside it under another name, with its write-ahead log. Dying
 * in between leaves one of the two in its place: the new one gets there by one renaming, when it is whole and flushed.
 *
 * `refuse` throws when whoever had it open last keeps it. Returns what was done, in sentences; nothing when not one event
 * could be read. To be called while nobody else mends and no connection of this process is open.
 */
export function renewFile(
  path: string,
  conversation: string,
  refuse: (last: FileOwner | undefined) => void,
): readonly string[] | undefined {
  const fresh = `${path}.renewed`;
  for (const suffix of ["-journal", ""]) rmSync(fresh + suffix, { force: true });
  createFile(fresh);
  let lost: readonly string[] | undefined;
  try {
    using to = openDatabase(fresh, { readOnly: false });
    to.exec("PRAGMA synchronous = FULL; PRAGMA fullfsync = ON");
    lost = reading(path, (from) => {
      refuse(ownerFrom(writerIn(from).owner));
      return transaction(to, () => copyEvents(from, to, path, conversation));
    });
  } finally {
    if (!lost) for (const suffix of ["-journal", ""]) rmSync(fresh + suffix, { force: true });
  }
  if (!lost) return;
  const aside = `${path}.damaged-${createId()}`;
  keepAs(path, aside);
  renameSync(fresh, path);
  // Until here the old log stands beside the new file; who dies now leaves it to be refused as not belonging there.
  if (statSync(`${path}-wal`, { throwIfNoEntry: false })) renameSync(`${path}-wal`, `${aside}-wal`);
  rmSync(`${path}-shm`, { force: true });
  if (process.platform !== "win32") flushDirectory(dirname(path));
  return [
    ...lost,
    `${path} is damaged and cannot be written. The conversation continues in a new file with everything that could be read. The old file is kept as ${aside}.`,
  ];
}

function copyEvents(
  from: DatabaseSync,
  to: DatabaseSync,
  path: string,
  conversation: string,
): readonly string[] | undefined {
  const known = readable(() => passedOver(from)) ?? new Set<number>();
  const reader = new EventReader({ path, reading: readStatements(from) }, known);
  const last = reader.last();
  makeSchema(to, conversation);
  const insert = to.prepare("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)");
  let events = 0;
  for (let at = 0; at < last.seq; ) {
    const batch = reader.batch(at, last.seq);
    for (const event of batch.events) insert.run(...rowOf(event));
    events += batch.events.length;
    at = batch.end;
  }
  if (events === 0) return;
  keepPassedOver(to, [...known, ...reader.lost]);
  to.prepare("UPDATE writer SET epoch = ?").run(Math.max(last.epoch, writerIn(from).epoch));
  return reader.damage;
}

/** What a file says of its writer; no one where that cannot be read. */
function writerIn(database: DatabaseSync): { readonly epoch: number; readonly owner: unknown } {
  const row = readable(() => database.prepare("SELECT epoch, owner FROM writer").get());
  const epoch = Number(row?.epoch);
  return { epoch: Number.isSafeInteger(epoch) ? epoch : 0, owner: row?.owner };
}

function readable<T>(body: () => T): T | undefined {
  try {
    return body();
  } catch (error) {
    if (storeError(error, "").code !== "damaged") throw error;
    return;
  }
}

function keepAs(path: string, aside: string): void {
  try {
    linkSync(path, aside);
  } catch {
    // Not every file system has links.
    copyFileSync(path, aside);
  }
}
