import { type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { openSqliteFile, prepareForArrays } from "./database.ts";

/** The open database of a conversation, with the prepared statements of its log. */
export class OpenDatabase {
  readonly database: DatabaseSync;
  readonly writer: StatementSync;
  readonly insert: StatementSync;
  readonly flush: StatementSync;
  readonly release: StatementSync;
  readonly #path: string;
  readonly #place: string;
  /** The directory's stats when the files were last found there. */
  #unchanged: Stats | undefined;
  /** In milliseconds of `performance.now()`. */
  #looked: number;
  #reading: ReadStatements | undefined;

  constructor(database: DatabaseSync, path: string) {
    this.#path = path;
    this.database = database;
    this.writer = prepareForArrays(database, "SELECT 1 FROM writer WHERE epoch = ?");
    this.insert = database.prepare("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)");
    this.flush = database.prepare("UPDATE writer SET flushes = flushes + 1");
    this.release = database.prepare("UPDATE writer SET owner = '' WHERE epoch = ?");
    // Read this last: preparing the statements has opened the write-ahead log.
    this.#place = walStamp(path);
    this.#looked = performance.now();
  }

  /** True if the files are still at their paths: a process can write to removed files without an error. */
  get isInPlace(): boolean {
    // A loop of quick tools flushes hundreds of times per second.
    const now = performance.now();
    if (now - this.#looked < TICK) return true;
    // Each change of a directory changes its time. After a `stat` of a write-ahead log, Linux stores its next write
    // time more exactly, which the next flush has to write; the directory's `stat` avoids this.
    const seen = statSync(dirname(this.#path), { throwIfNoEntry: false });
    if (!seen || !this.#unchanged || !isSameDirectory(seen, this.#unchanged)) {
      if (walStamp(this.#path) !== this.#place) return false;
      this.#unchanged = seen && Date.now() - seen.mtimeMs > TICK ? seen : undefined;
    }
    this.#looked = now;
    return true;
  }

  static open(file: string): OpenDatabase {
    const database = openSqliteFile(file, { readOnly: false });
    try {
      database.exec(`PRAGMA fullfsync = ON; ${SAFE_AGAINST_KILL}`);
      return new OpenDatabase(database, file);
    } catch (error) {
      database.close();
      throw error;
    }
  }

  /** Prepared on first use: a log that is only written needs no such statements. */
  get reading(): ReadStatements {
    this.#reading ??= readStatements(this.database);
    return this.#reading;
  }

  close(): void {
    this.database.close();
  }
}

/** Milliseconds between two checks of the files, longer than a tick of a file clock (1 to 10 ms). */
const TICK = 20;

function isSameDirectory(one: Stats, other: Stats): boolean {
  return one.mtimeMs === other.mtimeMs && one.ino === other.ino && one.dev === other.dev;
}

function walStamp(path: string): string {
  return [path, `${path}-wal`]
    .map((file) => {
      const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
      return stat ? `${stat.dev}:${stat.ino}` : "";
    })
    .join();
}

/**
 * SQL: commits wait for nothing. Used only for the first commits of a new write-ahead log, which the next flush makes
 * durable. SQLite then does not flush the head of the log by itself. An incomplete new log is ignored.
 */
export const BEFORE_FIRST_FLUSH = "PRAGMA synchronous = OFF";

/** SQL: commits do not wait for the disk. They survive SIGKILL, and a power cut leaves the file intact. */
export const SAFE_AGAINST_KILL = "PRAGMA synchronous = NORMAL";

/** SQL: each commit waits for the disk, so that all commits survive a power cut. */
export const SAFE_AGAINST_POWER_CUTS = "PRAGMA synchronous = FULL";

/** Statements for reading events, with rows as arrays. */
export interface ReadStatements {
  /** Rows after one number up to another. */
  readonly range: StatementSync;
  readonly bytes: StatementSync;
  readonly newest: StatementSync;
}

/** Prepares the statements for reading events. The database must have its schema. */
export function readStatements(database: DatabaseSync): ReadStatements {
  const columns = "seq, epoch, at, type, body, crc";
  return {
    range: prepareForArrays(database, `SELECT ${columns} FROM events WHERE seq > ? AND seq <= ? ORDER BY seq`),
    bytes: prepareForArrays(database, "SELECT total(octet_length(body)) FROM events WHERE seq > ? AND seq <= ?"),
    newest: prepareForArrays(database, `SELECT ${columns} FROM events ORDER BY seq DESC LIMIT 1`),
  };
}
