import type { Event, EventBody } from "../conversation/event.ts";
import type { Cursor, Delta, DeltaBody, DeltaSource } from "../conversation/feed-item.ts";
import { readableEvent } from "../conversation/tree/readable-event.ts";
import { reduce } from "../conversation/tree/reduce.ts";
import type { Granted } from "../past/granted.ts";
import type { Past } from "../past/past.ts";
import type { Log } from "../ports/store.ts";
import type { Audience } from "./audience.ts";
import { SessionError } from "./error.ts";
import type { FeedReader } from "./feed.ts";
import type { Questions } from "./questions.ts";
import { replay } from "./replay.ts";
import { beginOf, isText, Streaming } from "./streaming.ts";

/** A fact that may have happened earlier than it is written. */
type Fact = EventBody & { readonly at?: number };

/** What a session writes with. */
interface WriterParts extends Pick<Past, "state" | "voices" | "spending"> {
  /** Absent: the conversation is kept in memory only. */
  readonly log: Log | undefined;
  readonly audience: Audience;
  readonly questions: Questions;
  readonly granted: Granted;
  /** The log was put where this store keeps its own, and nothing was written to it yet. */
  readonly isForeign: boolean;
  /** What goes before the first thing that is written: the conversation's birth, or what a crash left to say. */
  readonly first: readonly Fact[];
  /** The store refused: nothing can be written any more. */
  onBreak(broken: SessionError): void;
}

/**
 * The one way of facts and fragments into the log, into the state, and to whoever watches, in this order. With a store that
 * takes its time the state is ahead of the log; the feed never is.
 *
 * ```
 * commit(events) ──▶ log.append ──▶ reduce(state) ──▶ feed
 * stream(deltas) ─────────────────▶ reduce(state) ──▶ feed      (and every 250 ms a checkpoint into the log)
 * ```
 */
export class Writer {
  readonly #parts: WriterParts;
  readonly #appends: Appends | undefined;
  readonly #epoch: number;
  /** Of the last event. */
  #seq: number;
  /** Of the last event that was there before this writer. */
  readonly #openedAt: number;
  #first: readonly Fact[];
  #isForeign: boolean;
  readonly #streaming = new Streaming(() => this.#saveText());
  #offset = 0;
  #broken: SessionError | undefined;

  constructor(parts: WriterParts) {
    const { log, first, isForeign } = parts;
    this.#parts = parts;
    this.#appends = log && new Appends(log);
    this.#epoch = log?.epoch ?? 1;
    this.#seq = log?.seq ?? 0;
    this.#openedAt = this.#seq;
    this.#first = first;
    this.#isForeign = isForeign;
  }

  /** Why nothing can be written any more; nothing while it can. */
  get broken(): SessionError | undefined {
    return this.#broken;
  }

  /** Behind the last item of the feed. */
  get cursor(): Cursor {
    return { epoch: this.#epoch, seq: this.#seq, offset: this.#offset };
  }

  commit(bodies: readonly EventBody[], options: { durable?: boolean; origin?: object }): void | Promise<void> {
    if (this.#broken) throw this.#broken;
    const { log, state, voices, spending, questions, audience } = this.#parts;
    const at = log?.now?.() ?? Date.now();
    let seq = this.#seq;
    const stamp = (body: Fact): Event => ({ ...body, at: body.at ?? at, seq: ++seq, epoch: this.#epoch });
    const events = this.#first.length > 0 ? [...this.#first, ...bodies].map(stamp) : bodies.map(stamp);
    let pending: void | Promise<void>;
    try {
      pending = this.#appends?.add(events, options.durable ? DURABLE : undefined);
    } catch (cause) {
      throw this.#break(cause);
    }
    this.#seq = seq;
    this.#first = NOTHING;
    if (this.#isForeign) pending = this.#takeIn(pending);
    // The log keeps what was committed; whoever watches is told what can be read of it.
    const shown = events.map(readableEvent);
    for (const event of shown) {
      reduce(state, event);
      voices.hear(event);
      spending.hear(event);
      questions.written(event, pending);
      this.#streaming.cover(event);
    }
    this.#offset = 0;
    if (!pending) return audience.publish(shown, options.origin);
    const written = pending.catch((cause: unknown) => {
      throw this.#break(cause);
    });
    return audience.publish(shown, options.origin, written);
  }

  /** What was brought in is marked in the log first: dying in between, the next one marks it again. */
  #takeIn(pending: void | Promise<void>): void | Promise<void> {
    const { granted } = this.#parts;
    this.#isForeign = false;
    try {
      return pending ? pending.then(() => granted.takeIn()) : granted.takeIn();
    } catch (cause) {
      throw this.#break(cause);
    }
  }

  stream(bodies: readonly DeltaBody[], { run, agent, depth }: DeltaSource, origin?: object): void {
    const { state, log, audience } = this.#parts;
    const seq = this.#seq;
    const epoch = this.#epoch;
    const deltas = bodies.map((body): Delta => {
      const { text } = body;
      const offset = this.#offset + text.length;
      this.#offset = offset;
      let delta: Delta;
      // Each names its run, so that a program can print the root agent's text alone by `depth === 0` (B68).
      if (isText(body)) {
        // The fields are written out: to spread three objects for each fragment takes as long as the rest of this.
        const { type, message, part } = body;
        const begins = beginOf(body, state);
        delta = { type, message, part, text, begins, run, agent, depth, seq, epoch, offset };
      } else delta = { ...body, run, agent, depth, seq, epoch, offset };
      reduce(state, delta);
      if (log) this.#streaming.add(delta);
      return delta;
    });
    audience.publish(deltas, origin);
  }

  /**
   * Shows a reader all that came after a cursor, and then what is live: `join` is called when that may come. `left` are the
   * ends of responses that a process left in the middle.
   */
  async replay(reader: FeedReader, from: Cursor, join: () => void, left: readonly Fact[]): Promise<void> {
    const { log, audience, voices } = this.#parts;
    if (!log) throw new SessionError("no-log", "This session keeps no log, so its feed cannot go back to a cursor.");
    // What is being published must have been: then the log holds it, and what is live comes behind it.
    while (audience.isBehind) await audience.upToDate();
    join();
    const ended = from.epoch === this.#epoch ? [] : left.filter((fact) => fact.type === "message.completed");
    const own = { epoch: this.#epoch, openedAt: this.#openedAt, upTo: this.#seq, streaming: this.#streaming };
    await replay(reader, from, { ...own, log, voices, left: ended });
  }

  /** Nothing more is written, for the reason that is given; what was, is in the log when this resolves. */
  async close(closed: SessionError): Promise<void> {
    const { audience, log } = this.#parts;
    this.#streaming.end();
    try {
      await audience.upToDate();
    } finally {
      this.#broken ??= closed;
      audience.dismissAll();
      await log?.close();
    }
  }

  /** Puts what has streamed into the log. */
  #saveText(): void {
    if (this.#broken) return;
    const events = this.#streaming.checkpoints(this.#parts.state);
    if (events.length === 0) return;
    try {
      // A rejection has broken the session already; whoever writes next is told.
      this.commit(events, {})?.catch(() => {});
    } catch {
      // As above: `commit` has broken the session, which ended its runs and readers with the reason.
    }
  }

  /** What the store refused cannot be told to anyone: the session ends, and the log is what counts. */
  #break(cause: unknown): SessionError {
    const why = cause instanceof Error ? cause.message : String(cause);
    this.#broken ??= new SessionError("broken", `The conversation could not be written: ${why}`, { cause });
    this.#parts.onBreak(this.#broken);
    this.#parts.audience.dismissAll(this.#broken);
    return this.#broken;
  }
}

const DURABLE = { durable: true } as const;
const NOTHING: readonly Fact[] = [];

/** Appends to a log, one after the other: its sequence numbers go on from the last one that it holds. */
class Appends {
  readonly #log: Log;
  #last: Promise<void> | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  /** As `Log.append`. */
  add(events: readonly Event[], options: { readonly durable: true } | undefined): void | Promise<void> {
    const before = this.#last;
    const appended = before ? before.then(() => this.#log.append(events, options)) : this.#log.append(events, options);
    if (!(appended instanceof Promise)) return;
    this.#last = appended;
    const done = () => {
      if (this.#last === appended) this.#last = undefined;
    };
    appended.then(done, done);
    return appended;
  }
}
