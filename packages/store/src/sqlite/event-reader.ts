import type { Event } from "@banyan/core";
import { gaps } from "../gaps.ts";
import { eventOf } from "../row.ts";
import type { ReadStatements } from "./connection.ts";
import { isDamage } from "./error.ts";

/** The most events of a batch, and the most bytes of their bodies unless a single one is larger. */
const BATCH_EVENTS = 256;
const BATCH_BYTES = 4 * 1024 * 1024;

/** How many events in a row may be unreadable before the search for more is given up when the end is not known. */
const SEARCH = 50_000;

/** A conversation's file, as it can be read now. */
export interface ReadableFile {
  readonly path: string;
  /** To be used at once, and asked for anew after a wait. */
  readonly reading: ReadStatements;
}

/**
 * Reads the events of a file, passes over what is damaged, and remembers what that was.
 *
 * A batch is read as a whole, not row by row over the life of an iteration: that is faster, and an open read would keep
 * the write-ahead log from being checkpointed. Where a batch cannot be read, its events are looked up one by one,
 * so that one bad page of the file costs the events on it and no other.
 */
export class EventReader {
  readonly #file: ReadableFile;
  /** Lost before: nobody is told again. */
  readonly #known: ReadonlySet<number>;
  readonly #lost = new Set<number>();
  #endUnknown = false;

  constructor(file: ReadableFile, known: ReadonlySet<number> = new Set()) {
    this.#file = file;
    this.#known = known;
  }

  /** What was passed over so far, a sentence for each gap. */
  get damage(): readonly string[] {
    const sentences = gaps(this.lost).map(([first, last]) =>
      first === last
        ? `Event ${first} of ${this.#file.path} is damaged and was skipped.`
        : `Events ${first} to ${last} of ${this.#file.path} are damaged and were skipped.`,
    );
    if (this.#endUnknown) sentences.push(`The end of ${this.#file.path} is damaged; what it held cannot be read.`);
    return sentences;
  }

  /** The numbers of the events that could not be read. */
  get lost(): readonly number[] {
    return Array.from(this.#lost).filter((seq) => !this.#known.has(seq));
  }

  /** The events after `after` up to and including `to`, as many as make a batch, and where it ends. */
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

  /** Where the log ends. When its last row is damaged, the last intact one is searched for from the beginning. */
  last(): { readonly seq: number; readonly epoch: number } {
    const { seq, epoch } = this.#lastRow();
    // Its number was told to others, who would take the next one for it.
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
    // A damaged row keeps its number when that can be true, so that it is not given twice.
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
    // Numbers behind the end were only asked for, not lost.
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

  /** The events of the rows in order, each once; numbers between `after` and `end` without one are lost. */
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
