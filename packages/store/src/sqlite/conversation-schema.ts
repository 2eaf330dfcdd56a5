import type { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import { ASKS } from "../summary.ts";

export const VERSION = 1;

/** SQLite uses the index for a query with these very words. Files of before have no such index: who opens one for writing makes it. */
export const INDEX_OF_QUESTIONS = `CREATE INDEX IF NOT EXISTS questions ON events (seq) WHERE ${ASKS}`;

/**
 * `writer` has one row: the writer that opened the file last, empty when that one has closed it, and how often the log
 * was flushed without an event to write. The indexes are partial: they cost nothing for events that are neither titles nor
 * questions.
 */
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

/** What stands in a file's header as `application_id`, so that a write-ahead log with that page says whose it is. */
export function identityOf(conversation: string): number {
  return crc32(conversation) | 0 || 1;
}

/** Makes the tables of a conversation's file. Inside a transaction. */
export function makeSchema(database: DatabaseSync, conversation: string): void {
  database.exec(`${SCHEMA} PRAGMA application_id = ${identityOf(conversation)}`);
}

/** The events that were lost with the file before this one: whoever opened that has been told. */
export function passedOver(database: DatabaseSync): ReadonlySet<number> {
  const numbers = new Set<number>();
  const table = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'passed_over'";
  if (!database.prepare(table).get()) return numbers;
  for (const { seq } of database.prepare("SELECT seq FROM passed_over").iterate()) numbers.add(Number(seq));
  return numbers;
}

/** Writes them into a file that takes the place of another. */
export function keepPassedOver(database: DatabaseSync, numbers: Iterable<number>): void {
  database.exec("CREATE TABLE passed_over (seq INTEGER PRIMARY KEY) STRICT");
  const insert = database.prepare("INSERT OR IGNORE INTO passed_over VALUES (?)");
  for (const seq of numbers) insert.run(seq);
}
