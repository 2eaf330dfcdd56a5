import type { UserContent } from "../conversation/checked/user-content.ts";
import type { EventBody } from "../conversation/event.ts";
import type { Cursor, DeltaBody, DeltaSource, FeedItem, Notice } from "../conversation/feed-item.ts";
import { createId } from "../conversation/id.ts";
import type { Call, Message } from "../conversation/message.ts";
import { checkArguments } from "../conversation/option-names.ts";
import type { ApprovalQuestion, ConversationState, InputChange, LiveRun, OpenQuestion } from "../conversation/state.ts";
import { copyState } from "../conversation/state.ts";
import { callIn } from "../conversation/tree/call-state.ts";
import { pathTo } from "../conversation/tree/path.ts";
import { answerFacts, approvalResolved } from "../past/answers.ts";
import { endOfWaiting } from "../past/end-of-waiting.ts";
import { GrantedRights } from "../past/granted-rights.ts";
import type { MessageForms } from "../past/history.ts";
import { emptyPast, type Past, pastOf, readWholePath } from "../past/past.ts";
import type { TurnSpending } from "../past/turn-spending.ts";
import type { Log, Store } from "../ports/store.ts";
import type { Answer } from "../ports/verdict.ts";
import { addedMessage, type HistoryOptions, historyStart } from "./added-message.ts";
import { Audience, type FeedListener } from "./audience.ts";
import { Interruption, noStore, SESSION_CLOSED, SessionError } from "./error.ts";
import type { FeedReader } from "./feed.ts";
import { Inbox } from "./inbox.ts";
import { SessionNotes } from "./notes.ts";
import {
  type AddMessageOptions,
  checkedId,
  checkSessionOptions,
  feedStart,
  type HeldBranch,
  type SayOptions,
  type SessionOptions,
} from "./options.ts";
import { Processes } from "./processes.ts";
import { type AskedQuestion, fittingAnswer, type InputProblemCheck, notOpenError, Questions } from "./questions.ts";
import { LiveRuns } from "./runs.ts";
import { Writer } from "./writer.ts";

/**
 * The single writer of one conversation. It carries out requests of users and programs, and owns the runs and the
 * questions. Every event goes into the log, into the state, and then to the readers.
 */
export class Session {
  /** The current tree; changes while the session works. Read only. */
  readonly state: ConversationState;
  /** Number of messages of the path that stay in memory between turns; `undefined`: all. */
  readonly window: number | undefined;
  /** Runs that a process left unfinished when it stopped; `resume()` continues them. */
  readonly interrupted: readonly LiveRun[];
  /** Descriptions of the unreadable parts of the log. All other parts were read. */
  readonly damage: readonly string[];
  /** Reports about omissions in requests that were already published: ids of messages, and sentences. @internal */
  readonly leftOut = new Set<string>();
  /** Labels, stars, the title, and other notes outside the turns. */
  readonly notes: SessionNotes;
  /** Background processes that outlive the calls that began them. */
  readonly processes: Processes;
  /** @internal */
  readonly runs: LiveRuns;
  /** @internal */
  readonly spending: TurnSpending;
  readonly #log: Log | undefined;
  readonly #writer: Writer;
  readonly #audience = new Audience();
  readonly #inbox: Inbox;
  readonly #questions: Questions;
  readonly #granted: GrantedRights;
  /** Events that a stopped process could no longer write. */
  readonly #leftToSay: readonly EventBody[];

  private constructor(log: Log | undefined, past: Past, options: SessionOptions) {
    const { state, spending, rights } = past;
    this.state = state;
    this.#log = log;
    this.spending = spending;
    this.damage = log?.damage ?? [];
    this.window = options.window;
    this.runs = new LiveRuns(state);
    this.#inbox = new Inbox(this);
    this.#questions = new Questions(state.questions);
    this.#granted = new GrantedRights(log?.rights, state, rights);
    this.notes = new SessionNotes(this);
    this.processes = new Processes(
      () => state.processesBegun,
      (event) => this.commit([event], { durable: true }),
    );
    const { seq = 0, epoch = 1 } = log ?? {};
    const isForeign = log?.rights !== undefined && rights === undefined && seq > 0;
    const left = past.recover?.(state, { seq, epoch }, isForeign ? "file" : this.allowed, log?.now?.(), spending);
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
        this.runs.stop(broken, broken);
        // The session is broken already, so a failure to write the end has no receiver.
        this.processes.end().catch(() => {});
      },
    });
  }

  /**
   * Opens a conversation for writing. Begins a new conversation without an id, or with `create` if the id is unknown;
   * its first message creates it in the store. Rejects with `StoreError`: `not-found`, or `locked` while another writer
   * has it open. Rejects with `SessionError` (`invalid-option`) for an invalid window, id (see `isId`) or store.
   * @example
   * await using session = await Session.open(store, "garden", { create: true });
   * await agent.send("What colour are leaves?", { session });
   */
  static async open(store: Store, id?: string, options: SessionOptions = {}): Promise<Session> {
    checkSessionOptions(options);
    if (typeof store?.open !== "function") throw noStore(store);
    const conversation = id === undefined ? createId() : checkedId("a conversation", id);
    const log = await store.open(conversation, { create: options.create ?? id === undefined });
    return new Session(log, await pastOf(log, conversation, options.labels), options);
  }

  /** Begins a conversation that is kept in memory only. */
  static inMemory(options: SessionOptions = {}): Session {
    checkSessionOptions(options);
    return new Session(undefined, emptyPast(undefined, options.labels), options);
  }

  get id(): string {
    return this.state.id;
  }

  /**
   * Writes events, all or none. They are written when this returns or resolves; with `durable`, they survive a power
   * cut. Throws `SessionError` when the session is closed or its store failed. Readers of another `origin` get nothing.
   * @internal
   */
  commit(bodies: readonly EventBody[], options: { durable?: boolean; origin?: object } = {}): void | Promise<void> {
    return this.#writer.commit(bodies, options);
  }

  /** Publishes fragments of streaming text or output, all of one source. @internal */
  stream(bodies: readonly DeltaBody[], source: DeltaSource, origin?: object): void {
    this.#writer.stream(bodies, source, origin);
  }

  /**
   * Returns a path including the messages outside the session's window, read from the log. Rejects when the session has no log.
   * A method, because a function in a field would keep each closed session in memory until a full garbage collection.
   * @internal
   */
  wholePath(path: readonly Message[]): Promise<readonly Message[]> {
    return readWholePath(path, this.#log, this.id);
  }

  /** Publishes a notice that the log does not keep. */
  notify(notice: Notice, origin?: object): void {
    this.#audience.notify(notice, origin);
  }

  /**
   * Watches the conversation: from now on, or from a cursor without gap or repeat. A watcher never delays the session.
   * If it falls far behind, it gets a `SessionError` (`behind`) and continues from its cursor. Also throws `SessionError`
   * for a closed session (`closed`), and for a cursor without a log (`no-log`).
   */
  feed(options: { readonly from?: Cursor | undefined } = {}): AsyncIterableIterator<FeedItem> {
    const from = feedStart(options);
    const reader = this.#audience.reader({ bounded: true });
    if (from) this.#replay(from, reader).catch((error: unknown) => this.detach(reader, error));
    else this.#join(reader);
    return reader;
  }

  /** The listener gets every item from now on, in the same tick, until the returned function is called. */
  listen(listener: FeedListener): () => void {
    return this.#audience.listen(listener, this.#writer.broken);
  }

  /** Returns a reader of the items published with `origin`. `onLeave` runs when its consumer leaves early. @internal */
  attach(origin: object, onLeave: () => void | Promise<void>): FeedReader {
    const reader = this.#audience.reader({ bounded: false, onLeave });
    if (this.#writer.broken) reader.end(this.#writer.broken);
    else this.#audience.join(reader, origin);
    return reader;
  }

  #join(reader: FeedReader): void {
    const { broken } = this.#writer;
    if (broken) reader.end(broken);
    else this.#audience.join(reader, undefined);
  }

  /** Ends a reader, with an error if given. @internal */
  detach(reader: FeedReader, error?: unknown): void {
    this.#audience.dismiss(reader, error);
  }

  /** Position after the last item of the feed. */
  get cursor(): Cursor {
    return this.#writer.cursor;
  }

  /** A copy of the state, and the cursor from which a feed continues. */
  snapshot(): { readonly state: ConversationState; readonly cursor: Cursor } {
    return { state: copyState(this.state), cursor: this.cursor };
  }

  /**
   * Interrupts a run, or all: live runs, waiting runs, and summaries in the background. Returns their number; each ends
   * soon after. A second call makes the running calls end at once, and does not count the run again. A turn that waits
   * for a user without a process ends at once.
   */
  interrupt(run?: string): number {
    checkArguments("session.interrupt", { run }, { run: "string or undefined" });
    const waiting = [...this.state.waiting.values()].filter(({ id, call }) => call === undefined && (run ?? id) === id);
    const ends = waiting.flatMap((turn) => endOfWaiting(this.state, turn));
    // If the log refuses the events, the session breaks and the readers get the error.
    if (ends.length > 0) this.commit(ends, { durable: true })?.catch(() => {});
    return this.runs.interrupt(new Interruption("interrupted by the user"), run) + waiting.length;
  }

  /**
   * Sends an input to a run. Resolves with the id of its later message when the log has the input. Without `run`, the
   * input goes to the live run of the branch that was last written; if no run is live, `resume()` delivers it. A
   * repeated id changes nothing, so clients may retry. Rejects with `SessionError`: `no-run` for a run that is not
   * live, `empty`, or `invalid-option` for an invalid id. Rejects with `DirectiveError` for a wrong field, with its
   * name.
   */
  say(content: UserContent, options: SayOptions = {}): Promise<string> {
    return this.#inbox.say(content, options);
  }

  /**
   * Changes a waiting input. Rejects with `SessionError`: `no-input` when the input no longer waits, `empty`, `no-run`.
   * Rejects with `DirectiveError` for parts of a wrong shape.
   */
  editInput(input: string, change: InputChange): Promise<void> {
    return this.#inbox.edit(input, change);
  }

  /** Withdraws a waiting input. Rejects with `SessionError` (`no-input`) when the input no longer waits. */
  withdrawInput(input: string): Promise<void> {
    return this.#inbox.withdraw(input);
  }

  /**
   * Adds a message without a turn; the model sees it with the next message below it. Resolves with its id when the
   * message is in the log and survives a power cut. A repeated id adds nothing, so clients may retry. Rejects with
   * `SessionError`: `no-message` for an unknown parent, `empty`, `invalid-option` for an invalid id or author. Rejects
   * with `DirectiveError` for a wrong shape.
   * @example
   * await session.add("The tests of this branch failed meanwhile.", { author: "system" });
   * await agent.send("Go on.", { session });
   */
  async add(content: UserContent, options: AddMessageOptions = {}): Promise<string> {
    const id = options?.id;
    if (id !== undefined && (this.state.messages.has(id) || this.state.inbox.some((waits) => waits.id === id)))
      return id;
    const added = addedMessage(this.state, content, options);
    await this.commit([added], { durable: true });
    return added.message;
  }

  /**
   * Adds a history as plain messages of the AI SDK, OpenAI or Anthropic, all or none. Resolves with the id of the last
   * message, which gets `id`, when the history survives a power cut. A repeated id adds nothing. A call without a result
   * gets a result with a note. Rejects with `DirectiveError` and the place of a part that the session cannot keep, and
   * with `SessionError`: `no-message`, or `busy` while a turn works at the end of the branch.
   * @example
   * await session.addHistory([{ role: "user", content: "Hi" }, { role: "assistant", content: "Hello." }]);
   * await agent.send("Go on.", { session });
   */
  async addHistory(messages: readonly object[], options: HistoryOptions = {}): Promise<string | null> {
    const { at, id } = historyStart(this.state, "session.addHistory", options);
    if (id !== undefined && this.state.messages.has(id)) return id;
    const { events, leaf } = (await import("../past/history.ts")).historyEvents(this.state, messages, at, id);
    if (leaf === null || leaf === at) return leaf;
    await this.hold(at, async (held) => {
      await this.commit(events, { durable: true });
      held.moveTo(leaf);
    });
    return leaf;
  }

  /**
   * Returns the branch down to the message `at` (default: the last written message) in the form of another library,
   * without parts for which the form has no place. Rejects with `OptionError` for an unknown form, and with
   * `SessionError` (`no-message`).
   * @example
   * const messages = await session.toMessages("openai-chat");
   */
  async toMessages<Form extends keyof MessageForms>(
    form: Form,
    options: Pick<AddMessageOptions, "at"> = {},
  ): Promise<MessageForms[Form][]> {
    const { at } = historyStart(this.state, "session.toMessages", options);
    const path = await this.wholePath(pathTo(this.state, at));
    return (await import("../past/history.ts")).messagesOf(this.state, path, form);
  }

  /**
   * Keeps turns away from the end of a branch (`null`: the root) while `work` runs, such as restoring files. Resolves
   * or rejects as `work` does. Turns that would begin there wait until `work` is done, then continue from `leaf` or
   * from the message given to `held.moveTo`. `close()` waits too. Rejects with `SessionError` before `work` begins:
   * `busy` while a turn has that end, or is about to; `no-message`; `closed`. `work` must not run a turn on that
   * branch: the turn would wait for itself.
   * @example
   * await session.hold(leaf, async (held) => {
   *   await restore("notes.md");
   *   held.moveTo(await session.add("notes.md is as it was before.", { at: leaf, author: "system" }));
   * });
   */
  hold<Result>(leaf: string | null, work: (held: HeldBranch) => Result | Promise<Result>): Promise<Result> {
    return this.runs.holdWhile(leaf, work);
  }

  /**
   * Answers a question; the first answer counts. Resolves when the answer is in the log. If the process that asked is
   * gone, `agent.chat(resume())` continues the turn. Rejects with `SessionError` (`no-question`) if the question is not
   * open. Rejects with `UnfitAnswerError` for an answer that does not fit, such as arguments that the call would change
   * before it runs; the question then stays open.
   */
  async answer(question: string, answer: Answer): Promise<void> {
    const open = this.state.questions.get(question);
    const fitting = fittingAnswer(answer, open?.type);
    if (this.#questions.isAsked(question)) return this.#questions.answer(question, fitting);
    if (!open || this.#questions.isClosed(open)) throw notOpenError(question);
    await this.#questions.answerInLog(question, () =>
      open.type === "approval"
        ? this.resolve(open, fitting)
        : this.commit(answerFacts(this.state, open, fitting), { durable: true }),
    );
  }

  /** Resolves when the answer to a question of a vanished process was written or refused. @internal */
  answering(question: string): Promise<void> | undefined {
    return this.#questions.answering(question);
  }

  /** Open questions in the order they were asked, including those of ended processes. `answer` takes their ids. */
  get openQuestions(): readonly OpenQuestion[] {
    return [...this.state.questions.values()];
  }

  /** Permission rules that a user answered with "always" in this conversation, on this machine (S17). */
  get allowed(): readonly string[] {
    return this.#granted.rules;
  }

  /** True if a user on this machine allowed a call with the arguments that it will run with. @internal */
  isAllowed(call: Call): boolean {
    return this.#granted.has({ ...call, input: call.executedInput ?? call.input });
  }

  /** Writes a user's answer about a call. The permission is stored before the log gets the answer. @internal */
  async resolve(asked: Omit<ApprovalQuestion, "pattern">, answer: Answer, origin?: object): Promise<void> {
    const call = callIn(this.state, asked);
    const facts = approvalResolved(asked, answer, call);
    if (answer.decision === "allow" && call) {
      const input = answer.input ?? call.executedInput ?? call.input;
      await this.#granted.allow({ ...call, input }, answer.remember?.pattern);
      // During the write, another answer may have arrived, or the call may have ended.
      if (!this.state.questions.has(asked.id)) throw notOpenError(asked.id);
    }
    await this.commit(facts, { durable: true, ...(origin && { origin }) });
  }

  /** Revokes a permission rule that a user allowed for this conversation. */
  async revoke(pattern: string): Promise<void> {
    await this.#granted.revoke(pattern);
    await this.commit([{ type: "rule.revoked", pattern }], { durable: true });
  }

  /** Creates a question. Write it into the log, then wait for the answer. `open`: a logged question. @internal */
  ask(unfit?: InputProblemCheck, open?: string): AskedQuestion {
    return this.#questions.ask(unfit, open);
  }

  /**
   * Interrupts all runs, ends their background processes, waits for both, and closes the log. The questions of a turn
   * that waits for a user stay open: they can be answered when the conversation is opened again.
   */
  async close(): Promise<void> {
    const closed = new SessionError("closed", "This session is closed; open the conversation again.");
    await this.runs.close(closed, SESSION_CLOSED);
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
