import type { Event } from "@banyan/core";
import { skippedEvents } from "../log/gaps.ts";
import { eventOf } from "../log/row.ts";
import type { Database } from "./database.ts";
import type { Statement } from "./statement.ts";

/** Maximum events of a batch, and maximum bytes of their bodies. A single event may be larger. */
const BATCH_EVENTS = 256;
const BATCH_BYTES = 4 * 1024 * 1024;

/** Reads the events of a conversation from a database. Skips damaged events and reports them in `damage`. */
export class DatabaseReader {
  readonly #database: Database;
  readonly #number: number;
  readonly #name: string;
  readonly #lost = new Set<number>();

  /** `number`: the conversation's row. `name`: for messages. */
  constructor(database: Database, number: number, name: string) {
    this.#database = database;
    this.#number = number;
    this.#name = name;
  }

  /** A sentence for each gap of skipped events. */
  get damage(): readonly string[] {
    return skippedEvents(this.#lost, `conversation ${this.#name}`);
  }

  /** Yields the events after `after` up to `to()`. Rejects with a `StoreError`. */
  async *read(after: number, to: () => number): AsyncGenerator<readonly Event[]> {
    for (let from = after; from < to(); ) {
      const rows = await this.#database.ask(BATCH, [this.#number, from, to(), BATCH_EVENTS, BATCH_BYTES]);
      const events: Event[] = [];
      const end = rows.length === 0 ? to() : Number(rows.at(-1)?.[0]);
      let next = from + 1;
      for (const row of rows) {
        const event = eventOf(row);
        if (!event) continue;
        for (; next < event.seq; next++) this.#lost.add(next);
        events.push(event);
        next++;
      }
      for (; next <= end; next++) this.#lost.add(next);
      from = end;
      if (events.length > 0) yield events;
    }
  }
}

const BATCH: Statement = {
  name: "batch",
  text: `
  SELECT seq, epoch, at, type, body, crc FROM (
    SELECT *, sum(octet_length(body)) OVER (ORDER BY seq) - octet_length(body) AS bytes
    FROM (
      SELECT * FROM banyan.events WHERE conversation = $1 AND seq > $2 AND seq <= $3 ORDER BY seq LIMIT $4
    ) AS next
  ) AS sized WHERE bytes < $5 ORDER BY seq`,
};
