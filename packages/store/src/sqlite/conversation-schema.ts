import type { DatabaseSync } from "node:sqlite";
import { identityOf } from "./foreign-log.ts";

export const VERSION = 1;

/**
 * `writer` has one row: the writer that opened the file last, empty when that one has closed it, and how often the log
 * was flushed without an event to write. The index is partial: it costs nothing for events that are no titles.
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
  CREATE TABLE writer (epoch INTEGER NOT NULL, owner TEXT NOT NULL, flushes INTEGER NOT NULL) STRICT;
  INSERT INTO writer VALUES (0, '', 0);
  PRAGMA user_version = ${VERSION};
`;

/** Makes the tables of a conversation's file. Inside a transaction. */
export function makeSchema(database: DatabaseSync, conversation: string): void {
  database.exec(`${SCHEMA} PRAGMA application_id = ${identityOf(conversation)}`);
}
