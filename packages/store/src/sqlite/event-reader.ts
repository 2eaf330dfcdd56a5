import type { Event } from "@banyan/core";
import { skippedEvents } from "../log/gaps.ts";
import { eventOf } from "../log/row.ts";
import type { ReadStatements } from "./connection.ts";
import { isDamage } from "./error.ts";

/** Maximum events of a batch, and maximum bytes of their bodies. A single event may be larger. */
const BATCH_EVENTS = 256;
const BATCH_BYTES = 4 * 1024 * 1024;

/** Maximum unreadable events in a row, when searching for the end of a log. */
const SEARCH = 50_000;

/** A conversation's file that is open for reading. */
export interface ReadableFile {
  readonly path: string;
  /** The file is valid only until the next `await`. */
  readonly reading: ReadStatements;
}

/**
 * Reads events of a conversation's file. Skips damaged events and reports them in `damage`. A batch is read at once: an
 * open read would block checkpoints. In an unreadable batch, events are read one by one, so that a damaged page costs
 * only its events.
 */
export class EventReader {
  readonly #file: ReadableFile;
  /** Events that earlier repairs reported as lost. They are not reported again. */
  readonly #known: ReadonlySet<number>;
  readonly #lost = new Set<number>();
  #endUnknown = false;

  constructor(file: ReadableFile, known: ReadonlySet<number> = new Set()) {
    this.#file = file;
    this.#known = known;
  }

  /** A sentence for each gap of skipped events. */
  get damage(): readonly string[] {
    const sentences = skippedEvents(this.lost, this.#file.path);
    if (this.#endUnknown) sentences.push(`The end of ${this.#file.path} is damaged and cannot be read.`);
    return sentences;
  }

  get lost(): readonly number[] {
    return Array.from(this.#lost).filter((seq) => !this.#known.has(seq));
  }

  /** Returns the next events after `after` up to `to`, and the number of the batch's last event. */
  batch(after: number, to: number): { readonly events: Event[]; readonly end: number } {
    let end = Math.min(to, after + BATCH_EVENTS);
    try {
      while (end > after + 1 && this.#size(after, end) > BATCH_BYTES) end = after + Math.ceil((end - after) / 2);
      return { events: this.#intact(this.#file.reading.range.all(after, end), after, end), end };
    } catch (error) {
      if (!isDamage(error)) throw error;
      return { events: this.#oneByOne(after, end), end };
    }
  }

  /** Returns the end of the log. If the last row is damaged, finds the last intact row. */
  last(): { readonly seq: number; readonly epoch: number } {
    const { seq, epoch } = this.#lastRow();
    // Clients know the numbers of lost events, and would confuse a new event with the old one.
    let given = seq;
    for (const known of this.#known) given = Math.max(given, known);
    return { seq: given, epoch };
  }

  #lastRow(): { readonly seq: number; readonly epoch: number } {
    let newest: unknown;
    try {
      const row = this.#file.reading.newest.get() as unknown as readonly unknown[] | undefined;
      if (!row) return { seq: 0, epoch: 0 };
      const event = eventOf(row);
      if (event) return event;
      newest = row[0];
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
    const { seq, epoch } = this.#lastIntact();
    // A plausible number of a damaged row is kept, so that no number is used twice.
    if (typeof newest === "number" && newest > seq && newest <= seq + SEARCH) return { seq: newest, epoch };
    this.#endUnknown = true;
    return { seq, epoch };
  }

  #lastIntact(): { seq: number; epoch: number } {
    let last = { seq: 0, epoch: 0 };
    for (let at = 0; at < last.seq + SEARCH; ) {
      const { events, end } = this.batch(at, last.seq + SEARCH);
      last = events.at(-1) ?? last;
      at = end;
    }
    // Numbers after the end were only probed, not lost.
    for (const seq of this.#lost) if (seq > last.seq) this.#lost.delete(seq);
    return last;
  }

  #size(after: number, end: number): number {
    const [bytes] = this.#file.reading.bytes.get(after, end) as unknown as readonly [number];
    return bytes;
  }

  #oneByOne(after: number, end: number): Event[] {
    const events: Event[] = [];
    for (let seq = after + 1; seq <= end; seq++) {
      try {
        events.push(...this.#intact(this.#file.reading.range.all(seq - 1, seq), seq - 1, seq));
      } catch (error) {
        if (!isDamage(error)) throw error;
        this.#lost.add(seq);
      }
    }
    return events;
  }

  /** Returns intact events in order. Missing numbers between `after` and `end` are lost. */
  #intact(rows: readonly unknown[], after: number, end: number): Event[] {
    const events: Event[] = [];
    let next = after + 1;
    for (const row of rows) {
      const event = eventOf(row as readonly unknown[]);
      if (!event || event.seq < next) continue;
      for (; next < event.seq; next++) this.#lost.add(next);
      events.push(event);
      next++;
    }
    for (; next <= end; next++) this.#lost.add(next);
    return events;
  }
}
