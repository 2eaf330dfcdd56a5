import { type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { openDatabase } from "./database.ts";

/** A conversation's open database, with the statements of its log. */
export class OpenDatabase {
  readonly database: DatabaseSync;
  readonly writer: StatementSync;
  readonly insert: StatementSync;
  readonly flush: StatementSync;
  readonly release: StatementSync;
  readonly #path: string;
  readonly #place: string;
  /** The directory, when the files were last found in it. */
  #unchanged: Stats | undefined;
  /** When they were last looked at, in the milliseconds of `performance.now()`. */
  #looked: number;
  #reading: ReadStatements | undefined;

  /** Takes a database whose schema is there. */
  constructor(database: DatabaseSync, path: string) {
    this.#path = path;
    this.database = database;
    this.writer = database.prepare("SELECT 1 FROM writer WHERE epoch = ?", { returnArrays: true });
    this.insert = database.prepare("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)");
    this.flush = database.prepare("UPDATE writer SET flushes = flushes + 1");
    this.release = database.prepare("UPDATE writer SET owner = '' WHERE epoch = ?");
    // Last: with the statements SQLite has opened the write-ahead log.
    this.#place = placeOf(path);
    this.#looked = performance.now();
  }

  /**
   * Whether the files that were opened are the ones that stand there, looked at once in a while (`TICK`). A system lets a
   * process write on into files that were removed or put elsewhere, and says nothing.
   */
  get isInPlace(): boolean {
    // Flushes that follow each other faster are one moment to whoever removes a folder, and a loop of quick tools has
    // hundreds of them in a second.
    const now = performance.now();
    if (now - this.#looked < TICK) return true;
    // Whatever is removed from a directory, or put into it, changes its time. To ask for that is half the work: after a look at
    // a write-ahead log, Linux notes the time of the next write to it more exactly, and the next flush writes that down.
    const seen = statSync(dirname(this.#path), { throwIfNoEntry: false });
    if (!seen || !this.#unchanged || !isSame(seen, this.#unchanged)) {
      if (placeOf(this.#path) !== this.#place) return false;
      // What changes within the same tick as the last change leaves the time as it is.
      this.#unchanged = seen && Date.now() - seen.mtimeMs > TICK ? seen : undefined;
    }
    this.#looked = now;
    return true;
  }

  /** Opens a file again that has been prepared before. */
  static open(file: string): OpenDatabase {
    const database = openDatabase(file, { readOnly: false });
    try {
      database.exec(`PRAGMA fullfsync = ON; ${SAFE_AGAINST_KILL}`);
      return new OpenDatabase(database, file);
    } catch (error) {
      database.close();
      throw error;
    }
  }

  /** A log that is only written does without these. */
  get reading(): ReadStatements {
    this.#reading ??= readStatements(this.database);
    return this.#reading;
  }

  close(): void {
    this.database.close();
  }
}

/**
 * Milliseconds within which the files are not looked at again, and two changes may have one time: the clock of files ticks
 * every 1 to 10 ms.
 */
const TICK = 20;

/** Whether two looks at a directory found the same one, with the same files in it. */
function isSame(one: Stats, other: Stats): boolean {
  return one.mtimeMs === other.mtimeMs && one.ino === other.ino && one.dev === other.dev;
}

function placeOf(path: string): string {
  return [path, `${path}-wal`]
    .map((file) => {
      const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
      return stat ? `${stat.dev}:${stat.ino}` : "";
    })
    .join();
}

/**
 * With the write-ahead log: commits survive kill -9, and the file stays whole in a power cut. No commit waits for the
 * disk.
 */
export const SAFE_AGAINST_KILL = "PRAGMA synchronous = NORMAL";

/** Commits, and all before them, survive a power cut: each waits for the disk. */
export const SAFE_AGAINST_POWER_CUTS = "PRAGMA synchronous = FULL";

/** Rows come as arrays. */
export interface ReadStatements {
  /** The rows after a number up to and including another. */
  readonly range: StatementSync;
  /** How long their bodies are together. */
  readonly bytes: StatementSync;
  readonly newest: StatementSync;
}

/** What an event reader needs of a database whose schema is there. */
export function readStatements(database: DatabaseSync): ReadStatements {
  const columns = "seq, epoch, at, type, body, crc";
  const asArrays = { returnArrays: true };
  return {
    range: database.prepare(`SELECT ${columns} FROM events WHERE seq > ? AND seq <= ? ORDER BY seq`, asArrays),
    bytes: database.prepare("SELECT total(octet_length(body)) FROM events WHERE seq > ? AND seq <= ?", asArrays),
    newest: database.prepare(`SELECT ${columns} FROM events ORDER BY seq DESC LIMIT 1`, asArrays),
  };
}
