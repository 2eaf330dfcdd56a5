import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { OpenDatabase, type ReadStatements } from "./connection.ts";
import { openSqliteFile } from "./database.ts";

/** Bytes up to which the write-ahead log of an idle file stays: its next use reads the log once. */
const LOG_THAT_STAYS = 256 * 1024;

/** The open files of a store. Above `most`, closes the least recently used file until its next use. */
export class OpenFiles {
  readonly #most: number;
  /** The last used file comes last. */
  readonly #open = new Set<LogFile>();

  constructor(most: number) {
    this.#most = most;
  }

  used(file: LogFile): void {
    this.#open.delete(file);
    this.#open.add(file);
    if (this.#open.size <= this.#most) return;
    for (const idle of this.#open) {
      this.#open.delete(idle);
      idle.rest();
      return;
    }
  }

  closed(file: LogFile): void {
    this.#open.delete(file);
  }
}

/** A conversation's file that opens on use. */
export class LogFile {
  readonly path: string;
  readonly #files: OpenFiles;
  #connection: OpenDatabase | undefined;

  constructor(path: string, connection: OpenDatabase, files: OpenFiles) {
    this.path = path;
    this.#files = files;
    this.#connection = connection;
  }

  /** Valid until the next `await`. Throws SQLite's error if the file cannot be reopened. */
  get connection(): OpenDatabase {
    this.#connection ??= OpenDatabase.open(this.path);
    this.#files.used(this);
    return this.#connection;
  }

  /** True if the file is closed until its next use. */
  get isAtRest(): boolean {
    return this.#connection === undefined;
  }

  get reading(): ReadStatements {
    return this.connection.reading;
  }

  /** Closes the file until its next use. A small write-ahead log stays, as after a kill, so that nothing is flushed. */
  rest(): void {
    const size = statSync(`${this.path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    const last = size > LOG_THAT_STAYS ? undefined : readerOf(this.path);
    this.#close();
    last?.close();
  }

  /** Closes the file, with everything in this one file if no other process reads it. */
  close(): void {
    this.#files.closed(this);
    this.#close();
  }

  #close(): void {
    this.#connection?.close();
    this.#connection = undefined;
  }
}

/**
 * When the last connection to a file closes, SQLite writes the log into the file, unless this connection can only read.
 * Returns such a connection; `undefined` if it cannot be opened.
 */
function readerOf(path: string): DatabaseSync | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = openSqliteFile(path, { readOnly: true });
    database.exec("SELECT 1 FROM sqlite_schema");
    return database;
  } catch {
    // A log that is written into its file costs time, and nothing else.
    database?.close();
    return;
  }
}
