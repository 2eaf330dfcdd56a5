import { errorMessage } from "../conversation/error-message.ts";
import type { Event, EventBody } from "../conversation/event.ts";
import type { Cursor, Delta, DeltaBody, DeltaSource } from "../conversation/feed-item.ts";
import { readableEvent } from "../conversation/tree/readable-event.ts";
import { reduce } from "../conversation/tree/reduce.ts";
import type { GrantedRights } from "../past/granted-rights.ts";
import type { Past } from "../past/past.ts";
import type { Log } from "../ports/store.ts";
import type { Audience } from "./audience.ts";
import { SessionError } from "./error.ts";
import type { FeedReader } from "./feed.ts";
import type { Questions } from "./questions.ts";
import { replay } from "./replay.ts";
import { deltaStart, isTextDelta, StreamingBuffer } from "./streaming-buffer.ts";

/** An event body that may have happened before it is written. */
type Fact = EventBody & { readonly at?: number };

interface WriterParts extends Pick<Past, "state" | "sources" | "spending"> {
  /** The log. Absent: the conversation is kept in memory only. */
  readonly log: Log | undefined;
  readonly audience: Audience;
  readonly questions: Questions;
  readonly granted: GrantedRights;
  /** True if the log was copied into this store from outside, and nothing has been written to it yet. */
  readonly isForeign: boolean;
  /** Events to write before all others: the creation of the conversation, or events that a crash left unwritten. */
  readonly first: readonly Fact[];
  /** Called when the store failed: nothing can be written any more. */
  onBreak(broken: SessionError): void;
}

/**
 * Brings each event and fragment into the log, then into the state, then to the readers. There is no other way. With an
 * asynchronous store, the state may be ahead of the log; the feed never is.
 * ```
 * commit(events) ──▶ log.append ──▶ reduce(state) ──▶ feed
 * stream(deltas) ─────────────────▶ reduce(state) ──▶ feed      (and every 250 ms a checkpoint into the log)
 * ```
 */
export class Writer {
  readonly #parts: WriterParts;
  readonly #appends: AppendQueue | undefined;
  readonly #epoch: number;
  #seq: number;
  /** Sequence number of the last event before this writer. */
  readonly #openedAt: number;
  #first: readonly Fact[];
  #isForeign: boolean;
  readonly #streaming = new StreamingBuffer(() => this.#saveText());
  #offset = 0;
  #broken: SessionError | undefined;

  constructor(parts: WriterParts) {
    const { log, first, isForeign } = parts;
    this.#parts = parts;
    this.#appends = log && new AppendQueue(log);
    this.#epoch = log?.epoch ?? 1;
    this.#seq = log?.seq ?? 0;
    this.#openedAt = this.#seq;
    this.#first = first;
    this.#isForeign = isForeign;
  }

  /** The error after which nothing can be written. */
  get broken(): SessionError | undefined {
    return this.#broken;
  }

  get cursor(): Cursor {
    return { epoch: this.#epoch, seq: this.#seq, offset: this.#offset };
  }

  commit(bodies: readonly EventBody[], options: { durable?: boolean; origin?: object }): void | Promise<void> {
    if (this.#broken) throw this.#broken;
    const { log, state, sources, spending, questions, audience } = this.#parts;
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
    // The log keeps the original events; readers get the readable form.
    const shown = events.map(readableEvent);
    for (const event of shown) {
      reduce(state, event);
      sources.add(event);
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

  /** After a crash between the first write of an imported log and this, the next writer repeats this. */
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
      // Each delta names its run, so that a program can print only the root agent's text by `depth === 0` (B68).
      if (isTextDelta(body)) {
        // Spreading three objects per fragment would take as long as the rest of this function.
        const { type, message, part } = body;
        const begins = deltaStart(body, state);
        delta = { type, message, part, text, begins, run, agent, depth, seq, epoch, offset };
      } else delta = { ...body, run, agent, depth, seq, epoch, offset };
      reduce(state, delta);
      if (log) this.#streaming.add(delta);
      return delta;
    });
    audience.publish(deltas, origin);
  }

  /** Replays all items after a cursor, then calls `join`. `left`: ends of responses that a stopped process left. */
  async replay(reader: FeedReader, from: Cursor, join: () => void, left: readonly Fact[]): Promise<void> {
    const { log, audience, sources } = this.#parts;
    if (!log) throw new SessionError("no-log", "This session has no log, so its feed cannot start at a cursor.");
    // Wait until pending items are published: then the log contains them, and live items follow.
    while (audience.isBehind) await audience.upToDate();
    join();
    const ended = from.epoch === this.#epoch ? [] : left.filter((fact) => fact.type === "message.completed");
    const own = { epoch: this.#epoch, openedAt: this.#openedAt, upTo: this.#seq, streaming: this.#streaming };
    await replay(reader, from, { ...own, log, sources, left: ended });
  }

  /** Stops writing with the given reason. Resolves when all written events are in the log. */
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

  #saveText(): void {
    if (this.#broken) return;
    const events = this.#streaming.checkpoints(this.#parts.state);
    if (events.length === 0) return;
    try {
      // A rejection has broken the session already; the next writer gets the error.
      this.commit(events, {})?.catch(() => {});
    } catch {
      // `commit` has broken the session, so its runs and readers got the error.
    }
  }

  /** A store failure ends the session: only the log counts, and the log cannot record the failure. */
  #break(cause: unknown): SessionError {
    const why = errorMessage(cause);
    this.#broken ??= new SessionError("broken", `The conversation could not be written: ${why}`, { cause });
    this.#parts.onBreak(this.#broken);
    this.#parts.audience.dismissAll(this.#broken);
    return this.#broken;
  }
}

const DURABLE = { durable: true } as const;
const NOTHING: readonly Fact[] = [];

/** Appends to a log one after the other, because sequence numbers must continue from the last event in the log. */
class AppendQueue {
  readonly #log: Log;
  #last: Promise<void> | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

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
