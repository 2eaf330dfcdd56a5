import type {
  CheckpointPart,
  Cursor,
  Delta,
  DeltaBody,
  Event,
  EventBody,
  FeedItem,
  Notice,
} from "../conversation/event.ts";
import { createId } from "../conversation/id.ts";
import { reduce } from "../conversation/reduce.ts";
import { type ConversationState, emptyConversation } from "../conversation/state.ts";
import type { Answer } from "../ports/human.ts";
import type { Log, Store } from "../ports/store.ts";
import { Interruption, SessionError } from "./error.ts";
import { afterCursor, FeedReader, mergeDeltas } from "./feed.ts";

/** Streaming text is in the log at the latest this many milliseconds after it came. */
const CHECKPOINT_EVERY = 250;

export interface SessionOptions {
  /** Facts about a new conversation that lists can be filtered by, such as its directory. */
  readonly labels?: Readonly<Record<string, string>>;
  /**
   * Keep only this many messages of the path in memory, and show the model no more; for conversations without end.
   * The log keeps all. No limit when absent.
   */
  readonly window?: number;
}

/** A run as its session holds it. */
export interface RunHandle {
  readonly id: string;
  /** The message that the run goes on from. */
  readonly leaf: string | null;
  /** Aborts when the run is interrupted. */
  readonly signal: AbortSignal;
  interrupt(reason: Interruption): void;
  /** Lets the next one onto the branch, which ends at `leaf` now. To be called once. */
  end(leaf: string | null): void;
}

/** A question that waits for a person. */
export interface Question {
  readonly id: string;
  /** Resolves with the first answer; rejects with the signal's reason, and then the question is closed. */
  answer(signal: AbortSignal): Promise<Answer>;
}

interface LiveRun {
  leaf: string | null;
  readonly controller: AbortController;
  readonly done: PromiseWithResolvers<void>;
}

/**
 * The single writer of one conversation. Every fact goes through `commit`, every fragment through `stream`: first into
 * the log, then into the state, then to whoever watches.
 *
 * ```
 * commit(events) ──▶ log.append ──▶ reduce(state) ──▶ feed
 * stream(deltas) ─────────────────▶ reduce(state) ──▶ feed      (and every 250 ms a checkpoint into the log)
 * ```
 */
export class Session {
  /** The tree as it is now; changes as the session goes on. Read only. */
  readonly state: ConversationState;
  readonly window: number | undefined;
  /** What of the log could not be read, in words; the rest of it was. */
  readonly damage: readonly string[];
  readonly #log: Log | undefined;
  readonly #epoch: number;
  /** Of the last event. */
  #seq: number;
  /** The first event of a conversation that has none yet. */
  #birth: EventBody | undefined;
  readonly #readers = new Map<FeedReader, object | undefined>();
  readonly #runs = new Map<string, LiveRun>();
  readonly #waiting = new Map<string, (answer: Answer) => void>();
  /** Characters of each streaming part that are in the log, by message. */
  readonly #saved = new Map<string, number[]>();
  #checkpoint: NodeJS.Timeout | undefined;
  /** Deltas that no event in the log stands for yet, in order: what a reader that joins now must be shown. */
  #fresh: Delta[] = [];
  #offset = 0;
  /** Items wait here behind an append that is under way. */
  #publishing: Promise<void> | undefined;
  #broken: SessionError | undefined;

  private constructor(log: Log | undefined, state: ConversationState, options: SessionOptions) {
    this.#log = log;
    this.#epoch = log?.epoch ?? 1;
    this.#seq = log?.seq ?? 0;
    this.damage = log?.damage ?? [];
    this.state = state;
    this.window = options.window;
    if (this.#seq === 0) {
      this.#birth = { type: "conversation.created", id: state.id, labels: options.labels ?? {} };
    }
  }

  /**
   * Opens a conversation for writing, or begins a new one when no id is given: that one is written with its first
   * message. Whoever had it open can write no more. Rejects with `StoreError`.
   */
  static async open(store: Store, id?: string, options: SessionOptions = {}): Promise<Session> {
    const conversation = id ?? createId();
    const log = await store.open(conversation, { create: id === undefined });
    const state = emptyConversation(conversation);
    for await (const events of log.read()) for (const event of events) reduce(state, event);
    return new Session(log, state, options);
  }

  /** A conversation that is kept in memory only. */
  static inMemory(options: SessionOptions = {}): Session {
    return new Session(undefined, emptyConversation(), options);
  }

  get id(): string {
    return this.state.id;
  }

  /**
   * Writes facts: all or none. Done when it returns, or when the promise that it answers resolves; with `durable`, they
   * then survive a power cut. Throws `SessionError` when the session is closed or its store failed. Items for a reader
   * with an origin reach only that reader and those without one.
   */
  commit(bodies: readonly EventBody[], options: { durable?: boolean; origin?: object } = {}): void | Promise<void> {
    if (this.#broken) throw this.#broken;
    const at = Date.now();
    let seq = this.#seq;
    const stamp = (body: EventBody): Event => ({ ...body, seq: ++seq, epoch: this.#epoch, at });
    const events = this.#birth ? [stamp(this.#birth), ...bodies.map(stamp)] : bodies.map(stamp);
    let pending: void | Promise<void>;
    try {
      pending = this.#log?.append(events, options.durable ? DURABLE : undefined);
    } catch (cause) {
      throw this.#break(cause);
    }
    this.#seq = seq;
    this.#birth = undefined;
    for (const event of events) {
      reduce(this.state, event);
      if (this.#fresh.length > 0 || this.#saved.size > 0) this.#forgetCovered(event);
    }
    this.#offset = 0;
    return this.#publish(events, options.origin, pending);
  }

  /** Shows fragments of what streams. */
  stream(bodies: readonly DeltaBody[], origin?: object): void {
    const deltas: Delta[] = [];
    for (const body of bodies) {
      this.#offset += body.text.length;
      const delta: Delta = { ...body, seq: this.#seq, epoch: this.#epoch, offset: this.#offset };
      reduce(this.state, delta);
      deltas.push(delta);
      if (!this.#log) continue;
      const last = this.#fresh.at(-1);
      const merged = last && mergeDeltas(last, delta);
      if (merged) this.#fresh[this.#fresh.length - 1] = merged;
      else this.#fresh.push(delta);
      if (delta.type === "text.delta" || delta.type === "reasoning.delta") {
        if (!this.#saved.has(delta.message)) this.#saved.set(delta.message, []);
        this.#checkpoint ??= setTimeout(() => this.#saveText(), CHECKPOINT_EVERY);
      }
    }
    void this.#publish(deltas, origin);
  }

  /** Tells whoever watches something that is not kept. */
  notify(notice: Notice, origin?: object): void {
    void this.#publish([notice], origin);
  }

  /**
   * Watches the conversation: from now on, or from a cursor, without gap or repeat. Watching never disturbs. A cursor
   * needs a session with a log; the feed throws `SessionError` otherwise.
   */
  feed(options: { readonly from?: Cursor } = {}): AsyncIterableIterator<FeedItem> {
    const reader = this.attach();
    return options.from ? this.#replay(options.from, reader) : reader;
  }

  /** A reader of its own of what is published with `origin`, or of everything. */
  attach(origin?: object, onLeave?: () => void | Promise<void>): FeedReader {
    const reader = new FeedReader(() => {
      this.#readers.delete(reader);
      return onLeave?.();
    });
    if (this.#broken) reader.end(this.#broken.code === "closed" ? undefined : this.#broken);
    else this.#readers.set(reader, origin);
    return reader;
  }

  /** No more items for a reader. */
  detach(reader: FeedReader, error?: unknown): void {
    this.#readers.delete(reader);
    reader.end(error);
  }

  /** A copy of the state and the cursor from which a feed goes on after it. */
  snapshot(): { readonly state: ConversationState; readonly cursor: Cursor } {
    const cursor = { epoch: this.#epoch, seq: this.#seq, offset: this.#offset };
    return { state: structuredClone(this.state), cursor };
  }

  /** Interrupts a run, or all of them. Answers how many were live; each ends by itself soon after. */
  interrupt(run?: string): number {
    const live = run === undefined ? [...this.#runs.values()] : [this.#runs.get(run)];
    let interrupted = 0;
    for (const entry of live) {
      if (!entry || entry.controller.signal.aborted) continue;
      entry.controller.abort(new Interruption("interrupted by the user"));
      interrupted++;
    }
    return interrupted;
  }

  /**
   * Begins a run at the end of the branch on which `leaf` stands last. While another run is live there, it waits, and
   * goes on from where that one ended: runs of one branch never interleave.
   */
  async begin(leaf: string | null): Promise<RunHandle> {
    let at = leaf;
    for (let other = this.#runAt(at); other; other = this.#runAt(at)) {
      await other.done.promise;
      at = other.leaf;
    }
    const id = createId();
    const run: LiveRun = { leaf: at, controller: new AbortController(), done: Promise.withResolvers() };
    this.#runs.set(id, run);
    return {
      id,
      leaf: at,
      signal: run.controller.signal,
      interrupt: (reason) => run.controller.abort(reason),
      end: (ended) => {
        run.leaf = ended;
        this.#runs.delete(id);
        run.done.resolve();
      },
    };
  }

  #runAt(leaf: string | null): LiveRun | undefined {
    for (const [id, run] of this.#runs) {
      const started = this.state.runs.get(id);
      if ((started ? started.leaf : run.leaf) === leaf) return run;
    }
    return undefined;
  }

  /** Answers a question; the first answer counts. Throws `SessionError` (`no-question`) when it is not open (any more). */
  answer(question: string, answer: Answer): void {
    const resolve = this.#waiting.get(question);
    if (!resolve)
      throw new SessionError("no-question", `No question ${question} is open; it may have been answered already.`);
    this.#waiting.delete(question);
    resolve(answer);
  }

  /** A new question for a person. Put it into the log, then wait for its answer; it may come as soon as it is seen. */
  ask(): Question {
    const id = createId();
    const { promise, resolve } = Promise.withResolvers<Answer>();
    this.#waiting.set(id, resolve);
    return {
      id,
      answer: (signal) =>
        new Promise((answered, reject) => {
          const abort = () => {
            this.#waiting.delete(id);
            reject(signal.reason);
          };
          if (signal.aborted) return abort();
          signal.addEventListener("abort", abort, { once: true });
          void promise.then((answer) => {
            signal.removeEventListener("abort", abort);
            answered(answer);
          });
        }),
    };
  }

  /** Interrupts what runs, waits for it, and closes the log. */
  async close(): Promise<void> {
    for (const { controller } of this.#runs.values()) controller.abort(new Interruption("the session closed"));
    await Promise.all([...this.#runs.values()].map(({ done }) => done.promise));
    clearTimeout(this.#checkpoint);
    await this.#publishing;
    this.#broken ??= new SessionError("closed", "This session is closed; open the conversation again.");
    for (const reader of this.#readers.keys()) this.detach(reader);
    await this.#log?.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async *#replay(from: Cursor, reader: FeedReader): AsyncIterableIterator<FeedItem> {
    try {
      if (!this.#log)
        throw new SessionError("no-log", "This session keeps no log, so its feed cannot go back to a cursor.");
      // The reader is attached: what comes from here on waits in it.
      const upTo = this.#seq;
      const fresh = this.#fresh;
      this.#fresh = [...fresh];
      await this.#publishing;
      const known = from.epoch === this.#epoch ? from : { ...from, offset: 0 };
      if (from.epoch !== this.#epoch || from.seq > upTo) yield { type: "feed.reset", epoch: this.#epoch };
      for await (const events of this.#log.read(known.seq)) {
        for (const event of events) if (event.seq <= upTo) yield event;
      }
      for (const delta of fresh) {
        const unseen = afterCursor(delta, known);
        if (unseen) yield unseen;
      }
      yield* reader;
    } finally {
      await reader.return();
    }
  }

  #publish(items: readonly FeedItem[], origin: object | undefined, after?: void | Promise<void>): void | Promise<void> {
    if (!after && !this.#publishing) {
      this.#deliver(items, origin);
      return;
    }
    const published = Promise.all([this.#publishing, after]).then(
      () => this.#deliver(items, origin),
      (cause) => {
        throw this.#break(cause);
      },
    );
    this.#publishing = published;
    const done = () => {
      if (this.#publishing === published) this.#publishing = undefined;
    };
    published.then(done, done);
    return after ? published : undefined;
  }

  #deliver(items: readonly FeedItem[], origin: object | undefined): void {
    for (const [reader, wanted] of this.#readers) {
      if (wanted === undefined || wanted === origin) for (const item of items) reader.push(item);
    }
  }

  /** An event that says all that deltas said makes them superfluous. */
  #forgetCovered(event: Event): void {
    switch (event.type) {
      case "message.checkpoint":
        this.#fresh = this.#fresh.filter((delta) => delta.message !== event.message || delta.type.startsWith("call."));
        break;
      case "message.completed":
      case "message.abandoned":
        this.#saved.delete(event.message);
        this.#fresh = this.#fresh.filter(
          (delta) => delta.message !== event.message || delta.type === "call.output.delta",
        );
        break;
      case "call.completed":
      case "call.failed":
      case "call.denied":
      case "call.cancelled":
        this.#fresh = this.#fresh.filter((delta) => !("call" in delta) || delta.call !== event.call);
        break;
    }
  }

  #saveText(): void {
    this.#checkpoint = undefined;
    if (this.#broken) return;
    const events: EventBody[] = [];
    for (const [id, saved] of this.#saved) {
      const message = this.state.messages.get(id);
      const parts: CheckpointPart[] = [];
      message?.parts.forEach((part, index) => {
        const offset = saved[index] ?? 0;
        if ((part.type !== "text" && part.type !== "reasoning") || part.text.length <= offset) return;
        saved[index] = part.text.length;
        parts.push({ index, type: part.type, offset, text: part.text.slice(offset) });
      });
      if (parts.length > 0) events.push({ type: "message.checkpoint", message: id, parts });
    }
    if (events.length === 0) return;
    try {
      // A rejection has broken the session already; whoever writes next is told.
      this.commit(events)?.catch(() => {});
    } catch {
      // As above: `commit` has broken the session, which ended its runs and readers with the reason.
    }
  }

  /** What the store refused cannot be told to anyone: the session ends, and the log is what counts. */
  #break(cause: unknown): SessionError {
    const why = cause instanceof Error ? cause.message : String(cause);
    this.#broken ??= new SessionError("broken", `The conversation could not be written: ${why}`, { cause });
    for (const { controller } of this.#runs.values()) controller.abort(this.#broken);
    for (const reader of this.#readers.keys()) this.detach(reader, this.#broken);
    return this.#broken;
  }
}

const DURABLE = { durable: true } as const;
