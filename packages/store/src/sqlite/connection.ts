import { type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { openSqliteFile } from "./database.ts";

/** The open database of a conversation, with the statements of its log. */
export class OpenDatabase {
  readonly database: DatabaseSync;
  readonly writer: StatementSync;
  readonly insert: StatementSync;
  readonly flush: StatementSync;
  readonly release: StatementSync;
  readonly #path: string;
  readonly #place: string;
  /** The stats of the directory when the files were last found there. */
  #unchanged: Stats | undefined;
  /** The time of the last check, in `performance.now()` milliseconds. */
  #looked: number;
  #reading: ReadStatements | undefined;

  /** The database must have its schema. */
  constructor(database: DatabaseSync, path: string) {
    this.#path = path;
    this.database = database;
    this.writer = database.prepare("SELECT 1 FROM writer WHERE epoch = ?", { returnArrays: true });
    this.insert = database.prepare("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)");
    this.flush = database.prepare("UPDATE writer SET flushes = flushes + 1");
    this.release = database.prepare("UPDATE writer SET owner = '' WHERE epoch = ?");
    // Read this last: preparing the statements has opened the write-ahead log.
    this.#place = walStamp(path);
    this.#looked = performance.now();
  }

  /**
   * True if the open files are still at their paths, checked at most once per `TICK`. Operating systems let a process
   * write to removed or moved files without an error.
   */
  get isInPlace(): boolean {
    // Flushes in quick succession count as one moment for the removal of a folder, and a loop of quick tools has
    // hundreds of them per second.
    const now = performance.now();
    if (now - this.#looked < TICK) return true;
    // Every removal or addition in a directory changes the directory's time. Reading that time is half the work: after
    // a `stat` of a write-ahead log, Linux stores the next write time more exactly, which the next flush has to write.
    const seen = statSync(dirname(this.#path), { throwIfNoEntry: false });
    if (!seen || !this.#unchanged || !isSameDirectory(seen, this.#unchanged)) {
      if (walStamp(this.#path) !== this.#place) return false;
      // A second change within the same clock tick does not change the time.
      this.#unchanged = seen && Date.now() - seen.mtimeMs > TICK ? seen : undefined;
    }
    this.#looked = now;
    return true;
  }

  /** Reopens a file that was prepared before. */
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

  /** The statements for reading. A log that is only written does not prepare them. */
  get reading(): ReadStatements {
    this.#reading ??= readStatements(this.database);
    return this.#reading;
  }

  close(): void {
    this.database.close();
  }
}

/**
 * Milliseconds between two checks of the files. Two changes may have the same time: file clocks tick every 1 to 10 ms.
 */
const TICK = 20;

/** Returns whether two stats describe the same directory with the same files. */
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
 * With the write-ahead log, commits survive SIGKILL, and the file stays intact after a power cut. Commits do not wait
 * for the disk.
 */
export const SAFE_AGAINST_KILL = "PRAGMA synchronous = NORMAL";

/** This commit and all earlier commits survive a power cut: each commit waits for the disk. */
export const SAFE_AGAINST_POWER_CUTS = "PRAGMA synchronous = FULL";

/** Statements that return rows as arrays. */
export interface ReadStatements {
  /** The rows after one number up to another, inclusive. */
  readonly range: StatementSync;
  /** The total length of their bodies. */
  readonly bytes: StatementSync;
  readonly newest: StatementSync;
}

/** Prepares the statements of an event reader. The database must have its schema. */
export function readStatements(database: DatabaseSync): ReadStatements {
  const columns = "seq, epoch, at, type, body, crc";
  const asArrays = { returnArrays: true };
  return {
    range: database.prepare(`SELECT ${columns} FROM events WHERE seq > ? AND seq <= ? ORDER BY seq`, asArrays),
    bytes: database.prepare("SELECT total(octet_length(body)) FROM events WHERE seq > ? AND seq <= ?", asArrays),
    newest: database.prepare(`SELECT ${columns} FROM events ORDER BY seq DESC LIMIT 1`, asArrays),
  };
}
