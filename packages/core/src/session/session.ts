import type { UserContent } from "../conversation/checked/user-content.ts";
import type { EventBody } from "../conversation/event.ts";
import type { Cursor, DeltaBody, DeltaSource, FeedItem, Notice } from "../conversation/feed-item.ts";
import { createId } from "../conversation/id.ts";
import type { AssistantMessage, Call, FileChange, Message } from "../conversation/message.ts";
import { refuseUnknown } from "../conversation/option-names.ts";
import type { ApprovalQuestion, ConversationState, InputChange, LiveRun, OpenQuestion } from "../conversation/state.ts";
import { callIn } from "../conversation/tree/call-state.ts";
import { answerFacts, approvalResolved } from "../past/answers.ts";
import { Granted } from "../past/granted.ts";
import { noPast, type Past, pastOf, wholePath } from "../past/past.ts";
import { recover } from "../past/recovery.ts";
import type { TurnSpending } from "../past/turn-spending.ts";
import { endOfWaiting } from "../past/waiting.ts";
import type { Answer } from "../ports/human.ts";
import type { Log, Store } from "../ports/store.ts";
import { addedMessage, changedFile, countedUsage, type SpentOutsideTurns } from "./added.ts";
import { Audience, type FeedListener } from "./audience.ts";
import { Interruption, noEntry, noMessage, noStore, SESSION_CLOSED, SessionError } from "./error.ts";
import type { FeedReader } from "./feed.ts";
import { Inbox } from "./inbox.ts";
import {
  type AddOptions,
  checkedId,
  checkSessionOptions,
  type HeldBranch,
  type SayOptions,
  type SessionOptions,
} from "./options.ts";
import { Processes } from "./processes.ts";
import { type AskedQuestion, fittingAnswer, notOpen, Questions, type Unfit } from "./questions.ts";
import { type BeginOptions, type KnownPath, type RunHandle, Runs } from "./runs.ts";
import { Writer } from "./writer.ts";

/**
 * The single writer of one conversation: takes what people and programs want of it, owns its runs and its questions. Every
 * fact and every fragment goes into the log, into the state, and, once it is in the log, to whoever watches.
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
  /**
   * What whoever watches was told already that requests leave out: ids of messages, and sentences of drivers.
   * @internal
   */
  readonly leftOut = new Set<string>();
  /**
   * A path with the messages that the session's window no longer holds, from the log. Rejects when the session keeps no log.
   * @internal
   */
  readonly wholePath: (path: readonly Message[]) => Promise<readonly Message[]>;
  readonly #writer: Writer;
  readonly #audience = new Audience();
  readonly #runs: Runs;
  readonly #inbox: Inbox;
  readonly #questions: Questions;
  readonly #granted: Granted;
  readonly #spending: TurnSpending;
  /**
   * What calls began and what stays when they have their results.
   * @internal
   */
  readonly processes: Processes;
  /** Responses with open calls that a run of this session goes on with, until those have their results. */
  readonly #settling = new WeakMap<AssistantMessage, Promise<void>>();
  #path: KnownPath | undefined;
  /** What a process left to say when it stopped in the middle. */
  readonly #leftToSay: readonly EventBody[];

  private constructor(log: Log | undefined, past: Past, options: SessionOptions) {
    const { state, spending, rights } = past;
    this.state = state;
    this.wholePath = (path) => wholePath(path, log, state.id);
    this.#spending = spending;
    this.damage = log?.damage ?? [];
    this.window = options.window;
    this.#runs = new Runs(state);
    this.#inbox = new Inbox(this);
    this.#questions = new Questions(state.questions);
    this.#granted = new Granted(log?.rights, state, rights);
    this.processes = new Processes(
      () => state.processesBegun,
      (event) => this.commit([event], { durable: true }),
    );
    const { seq = 0, epoch = 1 } = log ?? {};
    const isForeign = log?.rights !== undefined && rights === undefined && seq > 0;
    const left =
      seq === 0 ? undefined : recover(state, { seq, epoch }, isForeign ? "file" : this.allowed, log?.now?.(), spending);
    this.interrupted = left?.interrupted ?? [];
    this.#leftToSay = left?.facts ?? [];
    this.#writer = new Writer({
      ...past,
      log,
      isForeign,
      audience: this.#audience,
      questions: this.#questions,
      granted: this.#granted,
      first: left?.facts ?? [{ type: "conversation.created", id: state.id, labels: state.labels }],
      onBreak: (broken) => {
        this.#runs.stop(broken, broken);
        // Whether its end can be written or not, nobody waits for it here.
        this.processes.end().catch(() => {});
      },
    });
  }

  /**
   * Opens a conversation for writing, or begins a new one without an id, or with `create` when there is none of it: that one
   * is written with its first message. Rejects with `StoreError`: `not-found`, or `locked` while somebody else has it open;
   * with `SessionError` (`invalid-option`) for a window, an id (`isId` says what one is) or a store that can be none.
   * @example
   * await using session = await Session.open(store, "garden", { create: true });
   * await agent.send("What colour are leaves?", { session });
   */
  static async open(store: Store, id?: string, options: SessionOptions = {}): Promise<Session> {
    checkSessionOptions(options);
    if (typeof store?.open !== "function") throw noStore(store);
    const conversation = checkedId("a conversation", id ?? createId());
    const log = await store.open(conversation, { create: options.create ?? id === undefined });
    return new Session(log, await pastOf(log, conversation, options.labels), options);
  }

  /** A conversation that is kept in memory only. */
  static inMemory(options: SessionOptions = {}): Session {
    checkSessionOptions(options);
    return new Session(undefined, noPast(undefined, options.labels), options);
  }

  /** Of the conversation: `Session.open(store, id)` opens it again. */
  get id(): string {
    return this.state.id;
  }

  /**
   * Writes facts, for the engine and what is built around it: all or none. Done when it returns, or when the promise
   * that it returns resolves; with `durable`, they then survive a power cut. Throws `SessionError` when the session is
   * closed or its store failed. Items for a reader with an origin reach only that reader and those without one.
   * @internal
   */
  commit(bodies: readonly EventBody[], options: { durable?: boolean; origin?: object } = {}): void | Promise<void> {
    return this.#writer.commit(bodies, options);
  }

  /**
   * Shows fragments of what streams, all of one voice.
   * @internal
   */
  stream(bodies: readonly DeltaBody[], source: DeltaSource, origin?: object): void {
    this.#writer.stream(bodies, source, origin);
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
    refuseUnknown("session.feed", options, { from: true });
    const reader = this.#audience.reader({ bounded: true });
    if (options.from) this.#replay(options.from, reader).catch((error: unknown) => this.detach(reader, error));
    else this.#join(reader);
    return reader;
  }

  /**
   * The listener hears everything that is shown from now on, in the same tick; until the returned function is called.
   */
  listen(listener: FeedListener): () => void {
    const { broken } = this.#writer;
    if (!broken) return this.#audience.listen(listener);
    listener.ended(broken.code === "closed" ? undefined : broken);
    return () => {};
  }

  /**
   * A reader of its own of what is published with `origin`; `onLeave` runs when its consumer leaves early.
   * @internal
   */
  attach(origin: object, onLeave: () => void | Promise<void>): FeedReader {
    const reader = this.#audience.reader({ bounded: false, onLeave });
    // Whoever wants to say something is told that the session is closed; whoever only watches sees the end.
    if (this.#writer.broken) reader.end(this.#writer.broken);
    else this.#audience.join(reader, origin);
    return reader;
  }

  #join(reader: FeedReader): void {
    const { broken } = this.#writer;
    if (broken) reader.end(broken.code === "closed" ? undefined : broken);
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
    return this.#writer.cursor;
  }

  /** A copy of the state and the cursor from which a feed goes on after it. */
  snapshot(): { readonly state: ConversationState; readonly cursor: Cursor } {
    return { state: structuredClone(this.state), cursor: this.cursor };
  }

  /**
   * Interrupts a run, or all of them, those that wait for their branch, and summaries that are made in the background. Returns
   * how many there were; each ends by itself soon after. One that was interrupted before does not count: its calls are told to end without any delay. A turn
   * that waits for a user without a process ends at once.
   */
  interrupt(run?: string): number {
    const waiting = [...this.state.waiting.values()].filter(({ id, call }) => call === undefined && (run ?? id) === id);
    const ends = waiting.flatMap((turn) => endOfWaiting(this.state, turn));
    // When the log refuses it, the session is broken, and whoever watches is told.
    if (ends.length > 0) this.commit(ends, { durable: true })?.catch(() => {});
    return this.#runs.interrupt(new Interruption("interrupted by the user"), run) + waiting.length;
  }

  /**
   * The path that the last run kept, if it ends at this message. Whoever takes it has it alone.
   * @internal
   */
  takePath(leaf: string | null): KnownPath | undefined {
    const path = this.#path;
    this.#path = undefined;
    return path?.leaf === leaf ? path : undefined;
  }

  /**
   * Keeps the path that a run wrote along, for the one that goes on where it ended.
   * @internal
   */
  keepPath(path: KnownPath): void {
    this.#path = path;
  }

  /**
   * Whether a run is at work in this session: what it has begun is its own to end.
   * @internal
   */
  isLive(run: string): boolean {
    return this.#runs.isLive(run);
  }

  /**
   * Settles the open calls of a response by `settle`, once in this session: whoever comes second waits for the first.
   * @internal
   */
  settling(
    response: AssistantMessage,
    settle: () => Promise<void>,
  ): { readonly isFirst: boolean; readonly done: Promise<void> } {
    const known = this.#settling.get(response);
    if (known) return { isFirst: false, done: known };
    const done = settle();
    this.#settling.set(response, done);
    return { isFirst: true, done };
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
   * `no-run` when the run named is not live, `empty` when nothing is said, `invalid-option` for an id that cannot be one. Rejects
   * with `DirectiveError` for content of another shape, which names the field.
   */
  say(content: UserContent, options: SayOptions = {}): Promise<string> {
    return this.#inbox.say(content, options);
  }

  /**
   * Changes an input that waits. Rejects with `SessionError`: `no-input` when the input does not wait any more, `empty`,
   * `no-run`; with `DirectiveError` for parts of another shape.
   */
  editInput(input: string, change: InputChange): Promise<void> {
    return this.#inbox.edit(input, change);
  }

  /** Takes back what waits. Rejects with `SessionError` (`no-input`) when it does not wait any more. */
  withdrawInput(input: string): Promise<void> {
    return this.#inbox.withdraw(input);
  }

  /**
   * Adds a message without a turn: the model is told with what is said next below it. Resolves with its id when it is in
   * the log and would survive a power cut. An id that was used before adds nothing, so that a client may say a thing again.
   * Rejects with `SessionError`: `no-message` when there is none to stand below, `empty` when nothing is said,
   * `invalid-option` for an id or an author that cannot be one. Rejects with `DirectiveError` for content of another shape.
   *
   * @example
   * await session.add("The tests of this branch failed meanwhile.", { author: "system" });
   * await agent.send("Go on.", { session });
   */
  async add(content: UserContent, options: AddOptions = {}): Promise<string> {
    const { id } = options;
    if (id !== undefined && (this.state.messages.has(id) || this.state.inbox.some((waits) => waits.id === id)))
      return id;
    const added = addedMessage(this.state, content, options);
    await this.commit([added], { durable: true });
    return added.message;
  }

  /**
   * Keeps turns away from the end of a branch (`null`: the root) while `work` does what no turn may overlap, such as
   * putting files back; resolves or rejects as `work` does. The branch is taken before this returns; turns that would begin
   * there wait until `work` is done, and then go on from `leaf`, or from where `held.moveTo` says. `close()` waits for it too.
   * Rejects with `SessionError` before `work` begins: `busy` while a turn has that end, or is about to; `no-message`;
   * `closed`. Within `work`, a turn on that branch would wait for itself.
   *
   * @example
   * await session.hold(leaf, async (held) => {
   *   await restore("notes.md");
   *   held.moveTo(await session.add("notes.md is as it was before.", { at: leaf, author: "system" }));
   * });
   */
  hold<Result>(leaf: string | null, work: (held: HeldBranch) => Result | Promise<Result>): Promise<Result> {
    return this.#runs.holdWhile(leaf, work);
  }

  /**
   * Notes what was done to a file on account of a call: by its tool, or by whoever took that back. It stands with the
   * changes of the call, and whoever watches sees it. Resolves when it is in the log and would survive a power cut. Rejects
   * with `SessionError`: `no-call`, or `invalid-option` for a change that cannot be one.
   *
   * @example
   * // What the call created is gone again.
   * const change = { path: "notes.md", kind: "deleted", before: digest, after: null, added: 0, removed: 3, diff } as const;
   * await session.noteChange(call, change);
   */
  async noteChange(call: string, change: FileChange): Promise<void> {
    await this.commit([changedFile(this.state, call, change)], { durable: true });
  }

  /**
   * Counts what a model cost that was asked beside the turns, such as for a title: it goes into `state.usage` and
   * `state.cost`, whose unit is US dollars (`undefined`: unknown). Counts that are none, such as negative ones, are 0.
   * Rejects with `SessionError`: `invalid-option` for a purpose, a model or a cost that cannot be one.
   *
   * @example
   * const { text, usage, cost } = await askModel(model, { instructions: "Say it in five words.", messages }, { signal });
   * await session.noteUsage({ purpose: "title", model: model.id, usage, cost });
   */
  async noteUsage(spent: SpentOutsideTurns): Promise<void> {
    await this.commit([countedUsage(spent)]);
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
   * Takes an entry that memory recalled for a message away from the model, from its next response on, or gives it back.
   * `item` is its place in `recalled`, the first being 0. Rejects with `SessionError`: `no-message`, also when there is no
   * such entry.
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
   * Answers a question; the first answer counts. Resolves when the answer is in the log. When the process is gone that asked,
   * the turn goes on with `agent.chat(resume())`. Rejects with `SessionError` (`no-question`) when the question is not
   * open, or not any more, and with `UnfitAnswerError` for an answer that does not fit it: also for changed arguments with
   * which the call would run otherwise than they say. The question then stays open.
   */
  async answer(question: string, answer: Answer): Promise<void> {
    const open = this.state.questions.get(question);
    const fitting = fittingAnswer(answer, open?.type);
    if (this.#questions.isAsked(question)) return this.#questions.answer(question, fitting);
    if (!open || this.#questions.isClosed(open)) throw notOpen(question);
    await this.#questions.answerInLog(question, () =>
      open.type === "approval"
        ? this.resolve(open, fitting)
        : this.commit(answerFacts(this.state, open, fitting), { durable: true }),
    );
  }

  /**
   * Resolves when an answer that is being written to a question of a process that is gone is in the log, or was refused.
   * @internal
   */
  answering(question: string): Promise<void> | undefined {
    return this.#questions.answering(question);
  }

  /**
   * What waits for a user in this conversation, in the order in which it was asked; also what processes asked that have ended.
   * `answer` takes the ids.
   */
  get openQuestions(): readonly OpenQuestion[] {
    return [...this.state.questions.values()];
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
    const call = callIn(this.state, asked);
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

  /**
   * Ends what a call began and what has stayed, by what it is called (`p1`); resolves when it is over. `by`: the end of a
   * sentence, for the model and whoever watches. Rejects with `SessionError` (`no-process`) when none of it runs.
   *
   * @example
   * await session.stopProcess("p1");
   */
  stopProcess(process: string, by = "a person stopped it"): Promise<void> {
    return this.processes.stop(process, by);
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
   * A new question for a user. Put it into the log, then wait for its answer; it may come as soon as it is seen. `open`: the
   * id of a question that is in the log already.
   * @internal
   */
  ask(unfit?: Unfit, open?: string): AskedQuestion {
    return this.#questions.ask(unfit, open);
  }

  /**
   * What a turn took before the run that is about to continue it.
   * @internal
   */
  spentBefore(run: string) {
    return this.#spending.before(run);
  }

  /**
   * Interrupts what runs, ends what has stayed of it, waits for both, and closes the log. A turn in which a user is asked
   * waits on: its questions stay open, and who opens the conversation again can answer them.
   */
  async close(): Promise<void> {
    const closed = new SessionError("closed", "This session is closed; open the conversation again.");
    await this.#runs.close(closed, SESSION_CLOSED);
    await this.processes.end();
    await this.#writer.close(closed);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #replay(from: Cursor, reader: FeedReader): Promise<void> {
    return this.#writer.replay(reader, from, () => this.#join(reader), this.#leftToSay);
  }
}
