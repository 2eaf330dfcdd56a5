import type { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import { ASKS } from "../log/summary.ts";

export const VERSION = 1;

/** SQL that creates the index of questions, or replaces the index of an older file. */
export const INDEX_OF_QUESTIONS = `
  DROP INDEX IF EXISTS questions;
  CREATE INDEX IF NOT EXISTS asking ON events (seq) WHERE ${ASKS}`;

/** `writer` has one row: the last writer (empty after a close), and the number of flushes without an event. */
const SCHEMA = `
  CREATE TABLE events (
    seq INTEGER PRIMARY KEY,
    epoch INTEGER NOT NULL,
    at INTEGER NOT NULL,
    type TEXT NOT NULL,
    body TEXT NOT NULL,
    crc INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX titles ON events (seq) WHERE type = 'title.changed';
  ${INDEX_OF_QUESTIONS};
  CREATE TABLE writer (epoch INTEGER NOT NULL, owner TEXT NOT NULL, flushes INTEGER NOT NULL) STRICT;
  INSERT INTO writer VALUES (0, '', 0);
  PRAGMA user_version = ${VERSION};
`;

/** Returns the `application_id` of a conversation's file, by which its write-ahead log is recognized. */
export function identityOf(conversation: string): number {
  return crc32(conversation) | 0 || 1;
}

/** Creates the tables of a conversation's file. Call inside a transaction. */
export function makeSchema(database: DatabaseSync, conversation: string): void {
  database.exec(`${SCHEMA} PRAGMA application_id = ${identityOf(conversation)}`);
}

/** Returns the numbers of events that earlier repairs reported as lost. */
export function lostEvents(database: DatabaseSync): ReadonlySet<number> {
  const numbers = new Set<number>();
  const table = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'passed_over'";
  if (!database.prepare(table).get()) return numbers;
  for (const { seq } of database.prepare("SELECT seq FROM passed_over").iterate()) numbers.add(Number(seq));
  return numbers;
}

/** Stores the numbers of lost events in a replacement file. */
export function keepPassedOver(database: DatabaseSync, numbers: Iterable<number>): void {
  database.exec("CREATE TABLE passed_over (seq INTEGER PRIMARY KEY) STRICT");
  const insert = database.prepare("INSERT OR IGNORE INTO passed_over VALUES (?)");
  for (const seq of numbers) insert.run(seq);
}
