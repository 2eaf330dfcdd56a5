import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { Event } from "@banyan/core";

/** A row like in the store: the minimum that SQLite must write and read. */
export type BareRow = readonly [seq: number, epoch: number, at: number, type: string, body: string, crc: number];

export function bareRow({ seq, epoch, at, type, ...rest }: Event): BareRow {
  return [seq, epoch, at, type, JSON.stringify(rest), 0];
}

/** `node:sqlite` with the rows and settings of the store, and nothing else. */
export class Bare {
  readonly #database: DatabaseSync;
  readonly #begin: StatementSync;
  readonly #insert: StatementSync;
  readonly #commit: StatementSync;

  constructor(file: string, synchronous: "NORMAL" | "FULL" = "NORMAL") {
    this.#database = new DatabaseSync(file);
    this.#database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous};
      CREATE TABLE IF NOT EXISTS events (seq INTEGER PRIMARY KEY, epoch INTEGER NOT NULL, at INTEGER NOT NULL,
        type TEXT NOT NULL, body TEXT NOT NULL, crc INTEGER NOT NULL) STRICT`);
    this.#begin = this.#database.prepare("BEGIN IMMEDIATE");
    this.#insert = this.#database.prepare("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)");
    this.#commit = this.#database.prepare("COMMIT");
  }

  append(rows: readonly BareRow[]): void {
    this.#begin.run();
    for (const row of rows) this.#insert.run(...row);
    this.#commit.run();
  }

  /** Reads every row and parses its body. Returns the number of rows. */
  readAll(): number {
    let count = 0;
    const rows = this.#database.prepare("SELECT * FROM events ORDER BY seq", { returnArrays: true }).iterate();
    for (const row of rows as unknown as Iterable<BareRow>) if (typeof JSON.parse(row[4]) === "object") count++;
    return count;
  }

  close(): void {
    this.#database.close();
  }
}
