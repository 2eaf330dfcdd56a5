import type { Cursor, Delivery, Delta, DeltaBody, Event, EventBody, FeedItem, Notice } from "../conversation/event.ts";
import { createId } from "../conversation/id.ts";
import type { UserPart } from "../conversation/message.ts";
import { reduce } from "../conversation/reduce.ts";
import { type ConversationState, emptyConversation, type InputChange, type LiveRun } from "../conversation/state.ts";
import type { Answer } from "../ports/human.ts";
import type { Log, Store } from "../ports/store.ts";
import { Audience, type FeedListener } from "./audience.ts";
import { Interruption, noInput, noMessage, noRun, SessionError } from "./error.ts";
import type { FeedReader } from "./feed.ts";
import { approvalResolved, notOpen, type Question, Questions } from "./questions.ts";
import { leftOpen, recovery } from "./recovery.ts";
import { type RunHandle, Runs } from "./runs.ts";
import { Streaming } from "./streaming.ts";

/** Streaming text is in the log at the latest this many milliseconds after it came. */
const CHECKPOINT_EVERY = 250;

/** How a conversation is opened. */
export interface SessionOptions {
  /** Facts about a new conversation that lists can be filtered by, such as its directory. */
  readonly labels?: Readonly<Record<string, string>>;
  /**
   * Keep only this many messages of the path in memory from turn to turn, and show the model no earlier ones; for
   * conversations without end. The log keeps all. No limit when absent.
   */
  readonly window?: number;
}

/**
 * The single writer of one conversation. Every fact goes through `commit`, every fragment through `stream`: into the log,
 * into the state, and, once it is in the log, to whoever watches. With a store that takes its time the state is ahead of
 * the log; the feed never is.
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
  /** Runs that a process left in the middle when it stopped; `resume()` goes on with them. */
  readonly interrupted: readonly LiveRun[];
  /** What of the log could not be read, in words; the rest of it was. */
  readonly damage: readonly string[];
  readonly #log: Log | undefined;
  readonly #epoch: number;
  /** Of the last event. */
  #seq: number;
  /** Of the last event that was there before this writer. */
  readonly #openedAt: number;
  /** What goes before the first thing that this writer writes: the conversation's birth, or what a crash left to say. */
  #first: readonly (EventBody & { readonly at?: number })[];
  readonly #audience = new Audience();
  readonly #runs: Runs;
  readonly #questions = new Questions();
  readonly #streaming = new Streaming();
  #checkpoint: NodeJS.Timeout | undefined;
  #offset = 0;
  #appending: Promise<void> | undefined;
  #broken: SessionError | undefined;

  private constructor(log: Log | undefined, state: ConversationState, options: SessionOptions) {
    this.#log = log;
    this.#epoch = log?.epoch ?? 1;
    this.#seq = log?.seq ?? 0;
    this.#openedAt = this.#seq;
    this.damage = log?.damage ?? [];
    this.state = state;
    this.interrupted = leftOpen(state);
    this.#runs = new Runs(state);
    this.window = options.window;
    this.#first =
      this.#seq === 0
        ? [{ type: "conversation.created", id: state.id, labels: options.labels ?? {} }]
        : recovery(state);
    if (this.#seq > 0) this.#recover();
  }

  /**
   * What a crash left to say holds at once, so that nothing looks busy and nobody writes below an answer that is abandoned.
   * It is in the log with the first thing that is written: to look at a conversation writes nothing.
   */
  #recover(): void {
    const at = Date.now();
    this.#first = this.#first.map((body) => ({ ...body, at }));
    this.#first.forEach((body, index) => {
      reduce(this.state, { ...body, seq: this.#seq + 1 + index, epoch: this.#epoch, at });
    });
  }

  /**
   * Opens a conversation for writing, or begins a new one when no id is given: that one is written with its first
   * message. Rejects with `StoreError`, `locked` while somebody else has it open.
   */
  static async open(store: Store, id?: string, options: SessionOptions = {}): Promise<Session> {
    const conversation = id ?? createId();
    const log = await store.open(conversation, { create: id === undefined });
    const state = emptyConversation(conversation);
    try {
      for await (const events of log.read()) for (const event of events) reduce(state, event);
    } catch (error) {
      await log.close();
      throw error;
    }
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
    const stamp = (body: EventBody): Event => ({ at, ...body, seq: ++seq, epoch: this.#epoch });
    const events = this.#first.length > 0 ? [...this.#first, ...bodies].map(stamp) : bodies.map(stamp);
    let pending: void | Promise<void>;
    try {
      pending = this.#append(events, options.durable ? DURABLE : undefined);
    } catch (cause) {
      throw this.#break(cause);
    }
    this.#seq = seq;
    this.#first = [];
    for (const event of events) {
      reduce(this.state, event);
      if ("question" in event) this.#questions.written(event.question, pending);
      this.#streaming.cover(event);
    }
    this.#offset = 0;
    if (!pending) return this.#audience.publish(events, options.origin);
    const written = pending.catch((cause: unknown) => {
      throw this.#break(cause);
    });
    return this.#audience.publish(events, options.origin, written);
  }

  /** One append after the other: a log's sequence numbers go on from the last one that it holds. */
  #append(events: readonly Event[], options: { readonly durable: true } | undefined): void | Promise<void> {
    const before = this.#appending;
    const appended = before
      ? before.then(() => this.#log?.append(events, options))
      : this.#log?.append(events, options);
    if (!(appended instanceof Promise)) return;
    this.#appending = appended;
    const done = () => {
      if (this.#appending === appended) this.#appending = undefined;
    };
    appended.then(done, done);
    return appended;
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
      this.#streaming.add(delta);
      if (this.#streaming.unsaved) this.#checkpoint ??= setTimeout(() => this.#saveText(), CHECKPOINT_EVERY);
    }
    void this.#audience.publish(deltas, origin);
  }

  /** Tells whoever watches something that is not kept. */
  notify(notice: Notice, origin?: object): void {
    void this.#audience.publish([notice], origin);
  }

  /**
   * Watches the conversation: from now on, or from a cursor, without gap or repeat. Watching never disturbs: a watcher
   * that falls far behind gets deltas merged, and then a `SessionError` (`behind`); it goes on from its cursor. A cursor
   * needs a session with a log (`no-log` otherwise).
   */
  feed(options: { readonly from?: Cursor } = {}): AsyncIterableIterator<FeedItem> {
    const reader = this.#audience.reader({ bounded: true });
    if (options.from) void this.#replay(options.from, reader);
    else this.#join(reader);
    return reader;
  }

  /** The listener hears everything that is shown from now on, in the same tick; until the answered function is called. */
  listen(listener: FeedListener): () => void {
    if (!this.#broken) return this.#audience.listen(listener);
    listener.ended(this.#broken.code === "closed" ? undefined : this.#broken);
    return () => {};
  }

  /** A reader of its own of what is published with `origin`; `onLeave` runs when its consumer leaves early. */
  attach(origin: object, onLeave: () => void | Promise<void>): FeedReader {
    const reader = this.#audience.reader({ bounded: false, onLeave });
    this.#join(reader, origin);
    return reader;
  }

  #join(reader: FeedReader, origin?: object): void {
    if (this.#broken) reader.end(this.#broken.code === "closed" ? undefined : this.#broken);
    else this.#audience.join(reader, origin);
  }

  /** No more items for a reader. */
  detach(reader: FeedReader, error?: unknown): void {
    this.#audience.dismiss(reader, error);
  }

  /** Where the feed stands: behind its last item. */
  get cursor(): Cursor {
    return { epoch: this.#epoch, seq: this.#seq, offset: this.#offset };
  }

  /** A copy of the state and the cursor from which a feed goes on after it. */
  snapshot(): { readonly state: ConversationState; readonly cursor: Cursor } {
    return { state: structuredClone(this.state), cursor: this.cursor };
  }

  /**
   * Interrupts a run, or all of them and those that wait for their branch. Answers how many there were; each ends by
   * itself soon after.
   */
  interrupt(run?: string): number {
    return this.#runs.interrupt(new Interruption("interrupted by the user"), run);
  }

  /**
   * Begins a run at the end of the branch on which `leaf` stands last. While another run is live there, it waits, and
   * goes on from where that one ended: runs of one branch never interleave. Rejects with `Interruption` when it is
   * interrupted meanwhile, and with `SessionError` when the session closes.
   */
  begin(leaf: string | null, signal?: AbortSignal, id?: string): Promise<RunHandle> {
    return this.#runs.begin(leaf, signal, id);
  }

  /**
   * Writes to a run: it is in the log when this resolves, with the id that its message will have. Without `run`, to the
   * run that is live where the conversation was last written to; when none is, it is held, and `resume()` delivers it.
   * An id that was used before changes nothing, so that a client may say a thing again. Rejects with `SessionError`
   * (`no-run`) when the run named is not live.
   */
  async say(
    parts: readonly UserPart[],
    options: { readonly delivery?: Delivery; readonly run?: string; readonly id?: string } = {},
  ): Promise<string> {
    const { delivery = "steer", id: input = createId() } = options;
    const { inbox, messages, runs, leaf } = this.state;
    if (messages.has(input) || inbox.some(({ id }) => id === input)) return input;
    if (options.run !== undefined && !this.#runs.isLive(options.run)) throw noRun(options.run);
    const here = [...runs.values()].find((live) => live.leaf === leaf && this.#runs.isLive(live.id));
    const run = options.run ?? here?.id ?? null;
    await this.commit([{ type: "input.queued", input, parts, delivery, run }], { durable: true });
    if (delivery === "interrupt" && run !== null) this.interrupt(run);
    return input;
  }

  /** Changes what waits. Rejects with `SessionError` (`no-input`) when it does not wait any more. */
  async editInput(input: string, change: InputChange): Promise<void> {
    this.#mustWait(input);
    if (change.run !== undefined && !this.#runs.isLive(change.run)) throw noRun(change.run);
    await this.commit([{ type: "input.edited", input, ...change }], { durable: true });
    const run = this.state.inbox.find(({ id }) => id === input)?.run;
    if (change.delivery === "interrupt" && run) this.interrupt(run);
  }

  /** Takes back what waits. Rejects with `SessionError` (`no-input`) when it does not wait any more. */
  async withdrawInput(input: string): Promise<void> {
    this.#mustWait(input);
    await this.commit([{ type: "input.withdrawn", input }], { durable: true });
  }

  #mustWait(input: string): void {
    if (!this.state.inbox.some(({ id }) => id === input)) throw noInput(input);
  }

  /** Names a message, or takes its name away with `null`. */
  label(message: string, label: string | null): Promise<void> {
    return this.#note({ type: "message.labelled", message, label });
  }

  star(message: string, starred: boolean): Promise<void> {
    return this.#note({ type: "message.starred", message, starred });
  }

  /** Puts a message and all below it out of sight; `restore` brings it back. Nothing is rewritten. */
  remove(message: string): Promise<void> {
    return this.#note({ type: "message.removed", message });
  }

  restore(message: string): Promise<void> {
    return this.#note({ type: "message.restored", message });
  }

  async #note(note: EventBody & { readonly message: string }): Promise<void> {
    if (!this.state.messages.has(note.message)) throw noMessage(note.message);
    await this.commit([note], { durable: true });
  }

  /**
   * Answers a question; the first answer counts. Resolves when the answer is in the log. What is said of a call whose
   * process is gone counts when somebody resumes. Rejects with `SessionError` (`no-question`) when the question is not
   * open, or not any more, and with `TypeError` for an answer that does not fit it.
   */
  async answer(question: string, answer: Answer): Promise<void> {
    const open = this.state.questions.get(question);
    const { decision } = answer;
    const fitting = open?.type === "text" ? "answer" : "allow";
    if (decision !== fitting && decision !== "deny") {
      throw new TypeError(`An answer to this question has the decision "${fitting}" or "deny", not "${decision}".`);
    }
    if (this.#questions.isAsked(question)) return this.#questions.answer(question, answer);
    if (open?.type !== "approval") throw notOpen(question);
    await this.commit(approvalResolved(open, answer), { durable: true });
  }

  /** A permission rule that a person allowed for this conversation holds no more. */
  async revoke(pattern: string): Promise<void> {
    await this.commit([{ type: "rule.revoked", pattern }], { durable: true });
  }

  /** Gives the conversation a title. */
  async rename(title: string): Promise<void> {
    await this.commit([{ type: "title.changed", title }], { durable: true });
  }

  /** A new question for a person. Put it into the log, then wait for its answer; it may come as soon as it is seen. */
  ask(): Question {
    return this.#questions.ask();
  }

  /** Interrupts what runs, waits for it, and closes the log. */
  async close(): Promise<void> {
    const closed = new SessionError("closed", "This session is closed; open the conversation again.");
    await this.#runs.close(closed, new Interruption("the session closed"));
    clearTimeout(this.#checkpoint);
    try {
      await this.#audience.upToDate();
    } finally {
      this.#broken ??= closed;
      this.#audience.dismissAll();
      await this.#log?.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Shows a reader what came after its cursor, from the log and from what streams, and then joins it to the live feed. */
  async #replay(from: Cursor, reader: FeedReader): Promise<void> {
    try {
      if (!this.#log)
        throw new SessionError("no-log", "This session keeps no log, so its feed cannot go back to a cursor.");
      // What is being published must have been: from here to the end of the block nothing else happens.
      while (this.#audience.isBehind) await this.#audience.upToDate();
      reader.hold();
      this.#join(reader);
      const upTo = this.#seq;
      const foreign = from.epoch !== this.#epoch;
      const known = foreign ? { epoch: this.#epoch, seq: Math.min(from.seq, this.#openedAt), offset: 0 } : from;
      // A fragment stands behind the event that it came after, so that cursors only ever grow.
      const fresh = this.#streaming.after(known);
      if (foreign) reader.replay({ type: "feed.reset", epoch: this.#epoch, seq: known.seq });
      for await (const events of this.#log.read(known.seq)) {
        for (const event of events) {
          if (event.seq > upTo) break;
          while (fresh[0] && fresh[0].seq < event.seq) reader.replay(fresh.shift() as Delta);
          reader.replay(event);
        }
        await reader.drained();
        if (reader.ended) return;
      }
      for (const delta of fresh) reader.replay(delta);
      reader.release();
    } catch (error) {
      this.detach(reader, error);
    }
  }

  /** Puts what has streamed into the log. */
  #saveText(): void {
    this.#checkpoint = undefined;
    if (this.#broken) return;
    const events = this.#streaming.checkpoints(this.state);
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
    void this.#runs.close(this.#broken, this.#broken);
    this.#audience.dismissAll(this.#broken);
    return this.#broken;
  }
}

const DURABLE = { durable: true } as const;
