import { copyFileSync, linkSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { createId } from "@banyan/core";
import { eventRow } from "../log/row.ts";
import { readStatements } from "./connection.ts";
import { keepPassedOver, lostEvents, makeSchema } from "./conversation-schema.ts";
import {
  createDatabaseFile,
  flushDirectory,
  inSqliteTransaction,
  openSqliteFile,
  readBesideWriter,
} from "./database.ts";
import { sqliteStoreError } from "./error.ts";
import { EventReader } from "./event-reader.ts";
import { type FileOwner, ownerFrom } from "./owner.ts";

/**
 * Replaces a readable file that can no longer be written. The new file has all readable events with the same numbers,
 * and no owner. The old file and its write-ahead log are kept under another name. The new file is flushed before a
 * single rename, so a crash leaves one complete file in place. `refuse` throws if the last owner still has the file.
 * Returns sentences about the repair, or `undefined` if no event was readable. Call under the lock of `alone`, while
 * this process has no open connection.
 */
export function renewFile(
  path: string,
  conversation: string,
  refuse: (last: FileOwner | undefined) => void,
): readonly string[] | undefined {
  const fresh = `${path}.renewed`;
  for (const suffix of ["-journal", ""]) rmSync(fresh + suffix, { force: true });
  createDatabaseFile(fresh);
  let lost: readonly string[] | undefined;
  try {
    using to = openSqliteFile(fresh, { readOnly: false });
    to.exec("PRAGMA synchronous = FULL; PRAGMA fullfsync = ON");
    lost = readBesideWriter(path, (from) => {
      refuse(ownerFrom(writerIn(from).owner));
      return inSqliteTransaction(to, () => copyEvents(from, to, path, conversation));
    });
  } finally {
    if (!lost) for (const suffix of ["-journal", ""]) rmSync(fresh + suffix, { force: true });
  }
  if (!lost) return;
  const aside = `${path}.damaged-${createId()}`;
  keepAs(path, aside);
  renameSync(fresh, path);
  // After a crash here, the next opening refuses the old log, which is next to the new file, as foreign.
  if (statSync(`${path}-wal`, { throwIfNoEntry: false })) renameSync(`${path}-wal`, `${aside}-wal`);
  rmSync(`${path}-shm`, { force: true });
  if (process.platform !== "win32") flushDirectory(dirname(path));
  return [
    ...lost,
    `${path} is damaged and cannot be written. The conversation continues in a new file with all readable events. The damaged file is kept as ${aside}.`,
  ];
}

function copyEvents(
  from: DatabaseSync,
  to: DatabaseSync,
  path: string,
  conversation: string,
): readonly string[] | undefined {
  const known = unlessUnreadable(() => lostEvents(from)) ?? new Set<number>();
  const reader = new EventReader({ path, reading: readStatements(from) }, known);
  const last = reader.last();
  makeSchema(to, conversation);
  const insert = to.prepare("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)");
  let events = 0;
  for (let at = 0; at < last.seq; ) {
    const batch = reader.batch(at, last.seq);
    for (const event of batch.events) insert.run(...eventRow(event));
    events += batch.events.length;
    at = batch.end;
  }
  if (events === 0) return;
  keepPassedOver(to, [...known, ...reader.lost]);
  to.prepare("UPDATE writer SET epoch = ?").run(Math.max(last.epoch, writerIn(from).epoch));
  return reader.damage;
}

function writerIn(database: DatabaseSync): { readonly epoch: number; readonly owner: unknown } {
  const row = unlessUnreadable(() => database.prepare("SELECT epoch, owner FROM writer").get());
  const epoch = Number(row?.epoch);
  return { epoch: Number.isSafeInteger(epoch) ? epoch : 0, owner: row?.owner };
}

function unlessUnreadable<T>(body: () => T): T | undefined {
  try {
    return body();
  } catch (error) {
    if (sqliteStoreError(error, "").code !== "damaged") throw error;
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
