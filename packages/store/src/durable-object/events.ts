import type { Event } from "@banyan/core";
import type { LogView } from "@banyan/core/stores";
import { skippedEvents } from "../log/gaps.ts";
import { eventOf, eventRow } from "../log/row.ts";
import type { ObjectDatabase } from "./database.ts";

/** Maximum events of a batch, and maximum characters of their bodies. A single event may be larger. */
const BATCH_EVENTS = 256;
const BATCH_CHARACTERS = 4 * 1024 * 1024;

/** Maximum characters of a text. They have at most three bytes each, and a row has at most 2 MB. */
const PIECE = 600_000;

/** Writes an event. Call inside a transaction. */
export function writeEvent(database: ObjectDatabase, conversation: number, event: Event): void {
  const [seq, epoch, at, type, body, crc] = eventRow(event);
  const isLong = body.length > PIECE;
  const kept = isLong ? "" : body;
  database.run("INSERT INTO banyan_events VALUES (?, ?, ?, ?, ?, ?, ?)", conversation, seq, epoch, at, type, kept, crc);
  for (let from = 0, piece = 0; isLong && from < body.length; piece++) {
    // A piece must not end between the halves of a character.
    const to = from + PIECE - (/[\ud800-\udbff]/.test(body.charAt(from + PIECE - 1)) ? 1 : 0);
    database.run("INSERT INTO banyan_pieces VALUES (?, ?, ?, ?)", conversation, seq, piece, body.slice(from, to));
    from = to;
  }
}

interface StoredEvent {
  readonly seq: number;
  /** `undefined`: damaged. */
  readonly event: Event | undefined;
  /** Characters of its body. */
  readonly size: number;
}

/** Yields the events after `after` up to `to`. `only`: a condition in SQL. */
export function* storedEvents(
  database: ObjectDatabase,
  conversation: number,
  { after, to, only = "TRUE" }: { readonly after: number; readonly to: number; readonly only?: string },
): Generator<StoredEvent> {
  const events = `SELECT seq, epoch, at, type, body, crc FROM banyan_events
    WHERE conversation = ? AND seq > ? AND seq <= ? AND ${only} ORDER BY seq`;
  const pieces = "SELECT body FROM banyan_pieces WHERE conversation = ? AND seq = ? ORDER BY piece";
  for (const [seq, epoch, at, type, kept, crc] of database.rows(events, conversation, after, to)) {
    const number = Number(seq);
    const body = kept === "" ? database.run(pieces, conversation, number).join("") : String(kept);
    yield { seq: number, event: eventOf([seq, epoch, at, type, body, crc]), size: body.length };
  }
}

/** Reads the events of a conversation. Skips damaged events and reports them in `damage`. */
export class ObjectEventReader implements Pick<LogView, "damage" | "read"> {
  readonly #database: ObjectDatabase;
  readonly #conversation: number;
  readonly #id: string;
  readonly #end: () => number;
  readonly #lost = new Set<number>();

  /** `end` returns the number of the last event to read. */
  constructor(
    database: ObjectDatabase,
    { number, id }: { readonly number: number; readonly id: string },
    end: () => number,
  ) {
    this.#database = database;
    this.#conversation = number;
    this.#id = id;
    this.#end = end;
  }

  get damage(): readonly string[] {
    return skippedEvents(this.#lost, `conversation ${this.#id}`);
  }

  async *read(after = 0): AsyncGenerator<readonly Event[]> {
    for (let from = after; from < this.#end(); ) {
      const { events, end } = this.#batch(from, this.#end());
      from = end;
      if (events.length > 0) yield events;
    }
  }

  #batch(after: number, to: number): { readonly events: readonly Event[]; readonly end: number } {
    const events: Event[] = [];
    let [end, characters] = [after, 0];
    for (const { seq, event, size } of storedEvents(this.#database, this.#conversation, { after, to })) {
      for (let missing = end + 1; missing < seq; missing++) this.#lost.add(missing);
      if (event) events.push(event);
      else this.#lost.add(seq);
      end = seq;
      characters += size;
      if (events.length >= BATCH_EVENTS || characters > BATCH_CHARACTERS) return { events, end };
    }
    return { events, end: to };
  }
}
