import type {
  Cursor,
  Delta,
  DeltaBody,
  DeltaSource,
  Event,
  EventBody,
  FeedItem,
  Notice,
} from "../conversation/event.ts";
import { createId } from "../conversation/id.ts";
import { type Call, partsOf, type UserPart } from "../conversation/message.ts";
import type { ApprovalQuestion, ConversationState, InputChange, LiveRun } from "../conversation/state.ts";
import { reduce } from "../conversation/tree/reduce.ts";
import { noPast, type Past, pastOf } from "../past/past.ts";
import { recover } from "../past/recovery.ts";
import type { Voices } from "../past/voices.ts";
import type { Answer } from "../ports/human.ts";
import type { Log, Store } from "../ports/store.ts";
import { Appends } from "./appends.ts";
import { Audience, type FeedListener } from "./audience.ts";
import { emptyMessage, Interruption, noEntry, noInput, noMessage, noRun, noStore, SessionError } from "./error.ts";
import type { FeedReader } from "./feed.ts";
import { Granted } from "./granted.ts";
import { checkedId, checkWindow, howSaid, type SayOptions, type SessionOptions } from "./options.ts";
import { approvalResolved, fittingAnswer, notOpen, type Question, Questions, type Unfit } from "./questions.ts";
import { replay } from "./replay.ts";
import { type BeginOptions, type RunHandle, Runs } from "./runs.ts";
import { beginOf, Streaming } from "./streaming.ts";

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
  /** How many messages of the path stay in memory from turn to turn; all when `undefined`. */
  readonly window: number | undefined;
  /** Runs that a process left in the middle when it stopped; `resume()` goes on with them. */
  readonly interrupted: readonly LiveRun[];
  /** What of the log could not be read, in words; the rest of it was. */
  readonly damage: readonly string[];
  readonly #log: Log | undefined;
  readonly #appends: Appends | undefined;
  readonly #epoch: number;
  /** Of the last event. */
  #seq: number;
  /** Of the last event that was there before this writer. */
  readonly #openedAt: number;
  /**
   * What goes before the first thing that this writer writes: the conversation's birth, or what a crash left to say.
   */
  #first: readonly (EventBody & { readonly at?: number })[];
  /** How the answers ended that a process left in the middle. */
  readonly #brokenOff: readonly Extract<EventBody, { readonly type: "message.completed" }>[];
  readonly #audience = new Audience();
  readonly #runs: Runs;
  readonly #questions: Questions;
  readonly #granted: Granted;
  /** The log was put where this store keeps its own, and nothing was written to it yet. */
  #isForeign: boolean;
  readonly #streaming = new Streaming(() => this.#saveText());
  readonly #voices: Voices;
  #offset = 0;
  #broken: SessionError | undefined;

  private constructor(log: Log | undefined, { state, voices, rights }: Past, options: SessionOptions) {
    this.#voices = voices;
    this.#log = log;
    this.#appends = log && new Appends(log);
    this.#epoch = log?.epoch ?? 1;
    this.#seq = log?.seq ?? 0;
    this.#openedAt = this.#seq;
    this.damage = log?.damage ?? [];
    this.state = state;
    this.#runs = new Runs(state);
    this.#questions = new Questions(state.questions);
    this.window = options.window;
    this.#isForeign = log?.rights !== undefined && rights === undefined && this.#seq > 0;
    this.#granted = new Granted(log?.rights, state, rights);
    const last = { seq: this.#seq, epoch: this.#epoch };
    const left = this.#seq === 0 ? undefined : recover(state, last, this.#isForeign ? "file" : this.allowed);
    this.interrupted = left?.interrupted ?? [];
    this.#brokenOff = (left?.facts ?? []).filter((fact) => fact.type === "message.completed");
    this.#first = left?.facts ?? [{ type: "conversation.created", id: state.id, labels: options.labels ?? {} }];
  }

  /**
   * Opens a conversation for writing, or begins a new one without an id, or with `create` when there is none of it: that one
   * is written with its first message. Rejects with `StoreError`: `not-found`, or `locked` while somebody else has it open;
   * with `SessionError` (`invalid-option`) for a window, an id (`isId` says what one is) or a store that can be none.
   */
  static async open(store: Store, id?: string, options: SessionOptions = {}): Promise<Session> {
    checkWindow(options.window);
    if (typeof store?.open !== "function") throw noStore(store);
    const conversation = checkedId("a conversation", id ?? createId());
    const log = await store.open(conversation, { create: options.create ?? id === undefined });
    return new Session(log, await pastOf(log, conversation), options);
  }

  /** A conversation that is kept in memory only. */
  static inMemory(options: SessionOptions = {}): Session {
    checkWindow(options.window);
    return new Session(undefined, noPast(), options);
  }

  /** Of the conversation: `Session.open(store, id)` opens it again. */
  get id(): string {
    return this.state.id;
  }

  /**
   * Writes facts, for the engine and what is built around it: all or none. Done when it returns, or when the promise
   * that it answers resolves; with `durable`, they then survive a power cut. Throws `SessionError` when the session is
   * closed or its store failed. Items for a reader with an origin reach only that reader and those without one.
   * @internal
   */
  commit(bodies: readonly EventBody[], options: { durable?: boolean; origin?: object } = {}): void | Promise<void> {
    if (this.#broken) throw this.#broken;
    const at = Date.now();
    let seq = this.#seq;
    const stamp = (body: EventBody & { readonly at?: number }): Event => {
      return { ...body, at: body.at ?? at, seq: ++seq, epoch: this.#epoch };
    };
    const events = this.#first.length > 0 ? [...this.#first, ...bodies].map(stamp) : bodies.map(stamp);
    let pending: void | Promise<void>;
    try {
      pending = this.#appends?.add(events, options.durable ? DURABLE : undefined);
    } catch (cause) {
      throw this.#break(cause);
    }
    this.#seq = seq;
    this.#first = [];
    if (this.#isForeign) pending = this.#takeIn(pending);
    for (const event of events) {
      reduce(this.state, event);
      this.#voices.hear(event);
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

  /** What was brought in is marked in the log first: dying in between, the next one marks it again. */
  #takeIn(pending: void | Promise<void>): void | Promise<void> {
    this.#isForeign = false;
    try {
      return pending ? pending.then(() => this.#granted.takeIn()) : this.#granted.takeIn();
    } catch (cause) {
      throw this.#break(cause);
    }
  }

  /**
   * Shows fragments of what streams, all of one voice.
   * @internal
   */
  stream(bodies: readonly DeltaBody[], { run, agent, depth }: DeltaSource, origin?: object): void {
    const deltas = bodies.map((body): Delta => {
      this.#offset += body.text.length;
      const at = { seq: this.#seq, epoch: this.#epoch, offset: this.#offset };
      const delta: Delta = { ...body, ...beginOf(body, this.state), run, agent, depth, ...at };
      reduce(this.state, delta);
      if (this.#log) this.#streaming.add(delta);
      return delta;
    });
    this.#audience.publish(deltas, origin);
  }

  /** Tells whoever watches something that is not kept. */
  notify(notice: Notice, origin?: object): void {
    this.#audience.publish([notice], origin);
  }

  /**
   * Watches the conversation: from now on, or from a cursor, without gap or repeat. Watching never disturbs: a watcher
   * that falls far behind gets deltas merged, and then a `SessionError` (`behind`); it goes on from its cursor. A cursor
   * needs a session with a log (`no-log` otherwise).
   */
  feed(options: { readonly from?: Cursor | undefined } = {}): AsyncIterableIterator<FeedItem> {
    const reader = this.#audience.reader({ bounded: true });
    if (options.from) this.#replay(options.from, reader).catch((error: unknown) => this.detach(reader, error));
    else this.#join(reader);
    return reader;
  }

  /**
   * The listener hears everything that is shown from now on, in the same tick; until the answered function is called.
   */
  listen(listener: FeedListener): () => void {
    if (!this.#broken) return this.#audience.listen(listener);
    listener.ended(this.#broken.code === "closed" ? undefined : this.#broken);
    return () => {};
  }

  /**
   * A reader of its own of what is published with `origin`; `onLeave` runs when its consumer leaves early.
   * @internal
   */
  attach(origin: object, onLeave: () => void | Promise<void>): FeedReader {
    const reader = this.#audience.reader({ bounded: false, onLeave });
    // Whoever wants to say something is told that the session is closed; whoever only watches sees the end.
    if (this.#broken) reader.end(this.#broken);
    else this.#audience.join(reader, origin);
    return reader;
  }

  #join(reader: FeedReader): void {
    if (this.#broken) reader.end(this.#broken.code === "closed" ? undefined : this.#broken);
    else this.#audience.join(reader, undefined);
  }

  /**
   * No more items for a reader.
   * @internal
   */
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
   * itself soon after. One that was interrupted before does not count: its calls are told to end without any delay.
   */
  interrupt(run?: string): number {
    return this.#runs.interrupt(new Interruption("interrupted by the user"), run);
  }

  /**
   * Whether a run is at work in this session: what it has begun is its own to end.
   * @internal
   */
  isLive(run: string): boolean {
    return this.#runs.isLive(run);
  }

  /**
   * Begins a run at the end of the branch on which `leaf` stands last. While another run is live there, it waits, and
   * goes on from where that one ended: runs of one branch never interleave. Rejects with `Interruption` when it is
   * interrupted meanwhile, and with `SessionError` when the session closes.
   * @internal
   */
  begin(leaf: string | null, options?: BeginOptions): Promise<RunHandle> {
    return this.#runs.begin(leaf, options);
  }

  /**
   * Writes to a run: it is in the log when this resolves, with the id that its message will have. Without `run`, to the
   * run that is live where the conversation was last written to; when none is, it is held, and `resume()` delivers it.
   * An id that was used before changes nothing, so that a client may say a thing again. Rejects with `SessionError`:
   * `no-run` when the run named is not live, `empty` when nothing is said, `invalid-option` for an id that cannot be one.
   */
  async say(content: string | readonly UserPart[], options: SayOptions = {}): Promise<string> {
    const { delivery, input } = howSaid(options);
    const parts = partsOf(content);
    if (!parts) throw emptyMessage();
    const { inbox, messages, runs, leaf } = this.state;
    if (messages.has(input) || inbox.some(({ id }) => id === input)) return input;
    if (options.run !== undefined && !this.#runs.isLive(options.run)) throw noRun(options.run);
    const here = [...runs.values()].find((live) => live.leaf === leaf && this.#runs.isLive(live.id));
    const run = options.run ?? here?.id ?? null;
    await this.commit([{ type: "input.queued", input, parts, delivery, run }], { durable: true });
    if (delivery === "interrupt" && run !== null) this.interrupt(run);
    return input;
  }

  /** Changes what waits. Rejects with `SessionError`: `no-input` when it does not wait any more, `empty`, `no-run`. */
  async editInput(input: string, change: InputChange): Promise<void> {
    this.#mustWait(input);
    if (change.parts && !partsOf(change.parts)) throw emptyMessage();
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

  /** Marks a message for people, or takes the mark away. */
  star(message: string, starred: boolean): Promise<void> {
    return this.#note({ type: "message.starred", message, starred });
  }

  /**
   * Has the model not told something any more that memory recalled for a message, from its next answer on, or again. `item`
   * is its place in `recalled`, the first being 0. Rejects with `SessionError`: `no-message`, also for an entry that there
   * is not.
   */
  async dismiss(message: string, item: number, dismissed: boolean): Promise<void> {
    const at = this.state.messages.get(message);
    if (at && (at.role !== "user" || !at.recalled?.[item])) throw noEntry(message, item);
    await this.#note({ type: "memory.dismissed", message, item, dismissed });
  }

  /** Puts a message and all below it out of sight; `restore` brings it back. Nothing is rewritten. */
  remove(message: string): Promise<void> {
    return this.#note({ type: "message.removed", message });
  }

  /** Brings back what `remove` put out of sight. */
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
   * open, or not any more, and with `UnfitAnswerError` for an answer that does not fit it: also for changed arguments with
   * which the call would run otherwise than they say. The question then stays open.
   */
  async answer(question: string, answer: Answer): Promise<void> {
    const open = this.state.questions.get(question);
    const fitting = fittingAnswer(answer, open?.type);
    if (this.#questions.isAsked(question)) return this.#questions.answer(question, fitting);
    if (open?.type !== "approval" || this.#questions.isClosed(open)) throw notOpen(question);
    await this.resolve(open, fitting);
  }

  /** Permission rules that a person answered with "always" in this conversation, here (S17). */
  get allowed(): readonly string[] {
    return this.#granted.rules;
  }

  /**
   * Whether a person allowed, here, what a call without a result is to run.
   * @internal
   */
  isAllowed(call: Call): boolean {
    return this.#granted.has({ ...call, input: call.executedInput ?? call.input });
  }

  /**
   * Writes down what a person said of a call: before the log, what that allows.
   * @internal
   */
  async resolve(asked: Omit<ApprovalQuestion, "pattern">, answer: Answer, origin?: object): Promise<void> {
    const message = this.state.messages.get(asked.message);
    const call = message?.role === "assistant" ? message.calls.find(({ id }) => id === asked.call) : undefined;
    const facts = approvalResolved(asked, answer, call);
    if (answer.decision === "allow" && call) {
      const input = answer.input ?? call.executedInput ?? call.input;
      await this.#granted.allow({ ...call, input }, answer.remember?.pattern);
      // Somebody else may have answered meanwhile, or the call have ended.
      if (!this.state.questions.has(asked.id)) throw notOpen(asked.id);
    }
    await this.commit(facts, { durable: true, ...(origin && { origin }) });
  }

  /** A permission rule that a person allowed for this conversation holds no more. */
  async revoke(pattern: string): Promise<void> {
    await this.#granted.revoke(pattern);
    await this.commit([{ type: "rule.revoked", pattern }], { durable: true });
  }

  /** Gives the conversation a title. */
  async rename(title: string): Promise<void> {
    await this.commit([{ type: "title.changed", title }], { durable: true });
  }

  /** Gives the conversation a model by its name: for whoever makes its agents, and for `modelNamed` of one at work. */
  async changeModel(model: string): Promise<void> {
    await this.commit([{ type: "model.changed", model }], { durable: true });
  }

  /**
   * A new question for a person. Put it into the log, then wait for its answer; it may come as soon as it is seen.
   * @internal
   */
  ask(unfit?: Unfit): Question {
    return this.#questions.ask(unfit);
  }

  /** Interrupts what runs, waits for it, and closes the log. */
  async close(): Promise<void> {
    const closed = new SessionError("closed", "This session is closed; open the conversation again.");
    await this.#runs.close(closed, new Interruption("the session closed"));
    this.#streaming.end();
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

  async #replay(from: Cursor, reader: FeedReader): Promise<void> {
    if (!this.#log)
      throw new SessionError("no-log", "This session keeps no log, so its feed cannot go back to a cursor.");
    // What is being published must have been: then the log holds it, and what is live comes behind it.
    while (this.#audience.isBehind) await this.#audience.upToDate();
    this.#join(reader);
    const past = { log: this.#log, epoch: this.#epoch, openedAt: this.#openedAt, upTo: this.#seq };
    const left = from.epoch === this.#epoch ? [] : this.#brokenOff;
    await replay(reader, from, { ...past, streaming: this.#streaming, voices: this.#voices, left });
  }

  /** Puts what has streamed into the log. */
  #saveText(): void {
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
    this.#runs.stop(this.#broken, this.#broken);
    this.#audience.dismissAll(this.#broken);
    return this.#broken;
  }
}

const DURABLE = { durable: true } as const;
