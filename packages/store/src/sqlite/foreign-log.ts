import { renameSync, rmSync, statSync } from "node:fs";
import { basename } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { createId } from "@banyan/core";
import { eventOf } from "../log/row.ts";
import { identityOf, lostEvents } from "./conversation-schema.ts";
import { openAlone, openSqliteFile, prepareForArrays } from "./database.ts";
import { sqliteStoreError } from "./error.ts";

/**
 * Moves a write-ahead log aside if it belongs to another conversation or to another state of the file. SQLite would
 * apply any log at this path. If the log was moved, returns a sentence for the user. Call under the lock of `alone`.
 */
export function putForeignLogAside(path: string, conversation: string): string | undefined {
  const log = `${path}-wal`;
  if (!statSync(log, { throwIfNoEntry: false })?.size || belongs(path, conversation)) return;
  const aside = `${path}.foreign-${createId()}-wal`;
  renameSync(log, aside);
  rmSync(`${path}-shm`, { force: true });
  return `The write-ahead log next to ${basename(path)} belongs to another file. That log is kept as ${aside}, and the conversation was opened without it.`;
}

/** The file with its log must contain all events of the file alone. Read the file first: its owner may write. */
function belongs(path: string, conversation: string): boolean {
  using file = openAlone(path);
  using both = openSqliteFile(path, { readOnly: true });
  const [own, other] = [identityIn(file), identityIn(both)];
  const due = own === 0 ? identityOf(conversation) : own;
  if (other !== undefined && own !== undefined && other !== 0 && other !== due) return false;
  const rows = new Rows(file);
  const grown = new Rows(both);
  let last = 0;
  for (let row = rows.next(); row; row = rows.next()) {
    let same = grown.next();
    while (same && same.seq < row.seq) same = grown.next();
    if ((same?.seq !== row.seq || same.crc !== row.crc) && isIntact(file, row.seq)) return false;
    last = row.seq;
  }
  if (!rows.whole || last === 0) return true;
  const known = lostEvents(file);
  for (let row = grown.next(); row; row = grown.next()) {
    for (last++; last < row.seq; last++) if (!known.has(last)) return false;
  }
  return grown.whole;
}

function identityIn(database: DatabaseSync): number | undefined {
  try {
    return Number(database.prepare("PRAGMA application_id").get()?.application_id);
  } catch (error) {
    if (sqliteStoreError(error, "").code !== "damaged") throw error;
    return;
  }
}

function isIntact(database: DatabaseSync, seq: number): boolean {
  try {
    const select = "SELECT seq, epoch, at, type, body, crc FROM events WHERE seq = ?";
    const row = prepareForArrays(database, select).get(seq);
    return row !== undefined && eventOf(row as unknown as readonly unknown[]) !== undefined;
  } catch {
    return false;
  }
}

/** The numbers and checksums of events, up to the first unreadable event. */
class Rows {
  whole = true;
  #rows: Iterator<unknown> | undefined;

  constructor(database: DatabaseSync) {
    this.#rows = this.#readable(() => {
      const select = prepareForArrays(database, "SELECT seq, crc FROM events ORDER BY seq");
      return select.iterate() as Iterator<unknown>;
    });
  }

  next(): { readonly seq: number; readonly crc: unknown } | undefined {
    const step = this.#readable(() => this.#rows?.next());
    if (!step || step.done) return;
    const [seq, crc] = step.value as readonly [number, unknown];
    return { seq, crc };
  }

  #readable<T>(body: () => T): T | undefined {
    try {
      return body();
    } catch (error) {
      if (sqliteStoreError(error, "").code !== "damaged") throw error;
      this.whole = false;
      this.#rows = undefined;
      return;
    }
  }
}
