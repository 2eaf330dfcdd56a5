import { errorMessage } from "../conversation/error-message.ts";
import type { ChatEnd, FeedItem } from "../conversation/feed-item.ts";
import type { Message } from "../conversation/message.ts";
import { OptionError } from "../conversation/option-names.ts";
import type { Json } from "../conversation/part.ts";
import { inputsLeft } from "../conversation/tree/inbox.ts";
import { pathTo } from "../conversation/tree/path.ts";
import { onAbort } from "../model/alarm.ts";
import type { TaskAgent } from "../ports/tool.ts";
import type { RunBranch } from "../run/branch.ts";
import type { TurnAgent } from "../run/run.ts";
import { Interruption } from "../session/error.ts";
import type { FeedReader } from "../session/feed.ts";
import { Session } from "../session/session.ts";
import { Interrupts, type LastTurn, takeTurns } from "../turn/drive.ts";
import { type Turn, turnStartLeaf } from "../turn/turn.ts";
import {
  ChatError,
  type ChatOptions,
  type Conversation,
  checkChatOptions,
  handlerConversation,
  knownPath,
} from "./chat-options.ts";
import { beginOptions, checkDirective, continuationLeaf, type Directive, grownLeaf, turnStart } from "./directive.ts";
import { loadLater } from "./later.ts";
import type { PartialResult } from "./mode/partial-result.ts";
import { successfulTurn } from "./turn-error.ts";
import type { TurnOptions } from "./turn-options.ts";

/** The part of an agent that a chat uses. `Agent` implements this interface. */
export interface ChatAgent {
  readonly name: string;
  readonly options: TurnOptions;
  /** @internal */
  readonly ready: TurnAgent;
  /** @internal */
  holderOn(path: readonly Message[]): ChatAgent | undefined;
  /** @internal */
  handedTo(agent: TaskAgent): ChatAgent;
  /** @internal */
  readonly handler:
    | ((
        conversation: Conversation,
        turn: Turn,
      ) => Chat<unknown> | undefined | void | Promise<Chat<unknown> | undefined | void>)
    | undefined;
}

/**
 * One stream for a whole conversation. Nothing runs before the chat is read. To read the chat, iterate it for all
 * items, iterate `text`, or await `turn`. If a turn handler returns another chat, that chat defines how the current
 * chat continues.
 * @example
 * const chat = agent.chat(say("Why are leaves green?"));
 * for await (const text of chat.text) process.stdout.write(text);
 * const { usage, cost } = await chat.turn;
 */
export class Chat<out Result = Json | undefined> implements AsyncIterable<FeedItem> {
  readonly agent: ChatAgent;
  readonly directive: Directive;
  readonly options: ChatOptions;
  #session: Session | undefined;
  #begun = false;
  #drained = false;
  #first: FirstTurn | undefined;
  #last: Turn | undefined;
  #outcome: PromiseWithResolvers<Turn> | undefined;

  /** Throws `DirectiveError` or `ChatError` for values that only untyped programs can pass. */
  constructor(agent: ChatAgent, directive: Directive, options: ChatOptions) {
    this.directive = checkDirective(directive, agent.options.model);
    checkChatOptions(options);
    this.agent = agent;
    this.options = options;
    this.#session = options.session;
  }

  /** The session of the chat; a new session in memory if none was given. */
  get session(): Session {
    this.#session ??= Session.inMemory();
    return this.#session;
  }

  /**
   * The first turn, as `agent.send` returns it: text, result, usage and cost. Awaited alone, it runs the whole chat
   * without a reader. To read the stream too, begin to iterate before the next `await`.
   *
   * Rejects with `TurnError` if the turn failed, and with `Interruption` if it was interrupted before it began. A
   * rejection that nobody awaits is no unhandled rejection.
   */
  get turn(): Promise<Turn<Result>> {
    if (!this.#outcome) {
      this.#outcome = Promise.withResolvers();
      // The stream and the log have the failure too, so a program need not await the promise.
      this.#outcome.promise.catch(() => {});
      this.#settle();
    }
    // A program may read the stream and await the turn at once, in any order.
    if (!this.#begun) queueMicrotask(() => !this.#begun && this.#drain());
    // The agent's schema has made the result, and `Result` is the type of that schema.
    return this.#outcome.promise as Promise<Turn<unknown>> as Promise<Turn<Result>>;
  }

  /**
   * The text of all responses while it is written, without that of sub-agents. An empty line separates two responses. A
   * chat has one stream, so iterate either `text` or the chat. Throws `TurnError` at the end if the last turn failed.
   */
  get text(): AsyncIterable<string> {
    return this.#text(this[Symbol.asyncIterator]());
  }

  async *#text(items: AsyncIterable<FeedItem>): AsyncGenerator<string, void, undefined> {
    let message: string | undefined;
    for await (const item of items) {
      if (item.type !== "text.delta" || item.depth > 0) continue;
      if (message !== undefined && message !== item.message) yield "\n\n";
      message = item.message;
      yield item.text;
    }
    if (this.#last) successfulTurn(this.#last);
  }

  /**
   * Streams the result of the first turn while the model writes it. Each item has more of the result than the item
   * before. Only `turn.result` has the schema's defaults and transforms. After a result that does not match, the items
   * begin again. A chat has one stream: iterate either these items or the chat. Throws the error of `turn` at the end,
   * and `OptionError` for an agent without `output`.
   * @example
   * const chat = new Agent({ model, output: z.object({ city: z.string() }) }).chat(say("Plan a trip to Rome."));
   * for await (const { city } of chat.partialResults()) console.log(city);
   * const { result } = await chat.turn;
   */
  partialResults<Written = Result>(this: Chat<Written>): AsyncIterable<PartialResult<Written>> {
    const { output, mode } = this.agent.options;
    if (output === undefined)
      throw new OptionError("partialResults needs a schema of the result: new Agent({ model, output }).");
    const values = this.#partials(this[Symbol.asyncIterator](), mode);
    // The values have the form of the schema, but nothing has checked them yet.
    return values as AsyncIterable<unknown> as AsyncIterable<PartialResult<Written>>;
  }

  async *#partials(...[items, mode]: [items: AsyncIterable<FeedItem>, mode?: "chat" | "task"]): AsyncGenerator<Json> {
    yield* (await import("./mode/partial-result.ts")).partialResults(items, () => this.turn, mode);
  }

  /**
   * Starts the conversation, once. Leaving the iteration early interrupts the current turn. A turn that asks a user
   * stays open in the log, and `resume()` continues it.
   */
  [Symbol.asyncIterator](): AsyncIterableIterator<FeedItem> {
    this.#begin();
    const left = new AbortController();
    let turn: Promise<unknown> = Promise.resolve();
    const reader = this.session.attach(this, async () => {
      left.abort();
      // The reader has left, so nobody needs the outcome.
      await turn.catch(() => {});
    });
    const watch = { reader, signal: left.signal, onStart: (started: Promise<unknown>) => (turn = started) };
    runChatTurns(this, this.#watched(watch)).then(
      (reason) => {
        reader.push({ type: "chat.ended", reason });
        this.session.detach(reader);
      },
      (error: unknown) =>
        this.session.detach(reader, error ?? new Error("The turn handler rejected without a reason.")),
    );
    return reader;
  }

  /** Runs the chat without a reader, for a program that only awaits its first turn. */
  #drain(): void {
    this.#begin();
    this.#drained = true;
    runChatTurns(this, this.#watched({})).catch((error: unknown) => {
      // Before the end of the first turn, `turn` rejects with the error.
      if (this.#last)
        this.session.notify({ type: "callback.failed", callback: "onTurn", reason: errorMessage(error) }, this);
    });
  }

  #watched(watch: ChatWatch): ChatWatch {
    return { ...watch, onTurn: (turn) => (this.#last = turn) };
  }

  #begin(): void {
    const isBegun = this.#begun;
    this.adopt();
    if (isBegun) throw new ChatError("iterated", "This chat was already iterated; call agent.chat() again.");
  }

  /**
   * Lets another chat run this one, which a turn handler returned.
   * @internal
   */
  adopt(): void {
    if (this.#drained)
      throw new ChatError(
        "iterated",
        "chat.turn already runs this chat: iterate or return the chat before you await chat.turn.",
      );
    this.#begun = true;
  }

  /**
   * Records the end of the first turn, or the failure before it.
   * @internal
   */
  ended(turn?: Turn, error?: unknown): void {
    if (this.#first) return;
    this.#first = { turn, error };
    this.#settle();
  }

  #settle(): void {
    if (!this.#outcome || !this.#first) return;
    const { turn, error } = this.#first;
    if (error === undefined)
      this.#outcome.resolve((async () => successfulTurn(turn, this.agent.options.output !== undefined))());
    else this.#outcome.reject(error);
  }
}

/** The end of a chat's first turn. Without a turn and an error, the chat ended before the turn began. */
interface FirstTurn {
  readonly turn: Turn | undefined;
  readonly error: unknown;
}

const LEFT = new Interruption("interrupted by the caller", { isLeaving: true });

/** The reader of a running chat, the signal that aborts the chat, and the listeners. */
export interface ChatWatch {
  readonly reader?: FeedReader;
  /** Interrupts the current turn and ends the chat. */
  readonly signal?: AbortSignal | undefined;
  /** Ends the chat after one turn, even if messages wait. */
  readonly once?: boolean;
  onStart?(turn: Promise<unknown>): void;
  onTurn?(turn: Turn): void;
}

/** Runs the turns of a chat one after another. Neither stack nor memory grows with the number of turns. */
export async function runChatTurns(first: Chat<unknown>, watch: ChatWatch): Promise<ChatEnd> {
  const { session } = first;
  let chat: Chat<unknown> = first;
  // The signal of the first chat counts for the whole stream; that of a handler's chat counts for its turn.
  let asked = first.options.signal;
  let signal = anySignal(watch.signal, asked);
  let before: LastTurn | undefined;
  let chosenModel = session.state.model;
  let interrupts = new Interrupts([signal], LEFT);
  try {
    for (;;) {
      const { agent, directive, options } = chat;
      if (directive.type === "stop") return "stop";
      const next = { agent, directive, options, before, chosenModel };
      const taking = takeHere(first, next, { ...watch, signal }, interrupts);
      watch.onStart?.(taking);
      const taken = await taking;
      if (!taken) return "interrupted";
      const { turn, leaf, holder } = taken;
      chat.ended(turn);
      loadLater();
      before = taken;
      const { handler } = holder;
      // A waiting turn is not over: the chat that continues it calls the handler.
      if (watch.once || !handler || turn.reason === "waiting" || signal?.aborted) return turn.reason;
      const handled = handler(handlerConversation(session, leaf), turn);
      // Without a signal, no microtask lies between the handler's chat and its turn.
      const following = await (asked ? handledUntil(handled, asked) : handled);
      if (signal?.aborted) return turn.reason;
      if (!following) return "stop";
      chat = checkedNext(following, session);
      // The handler's agent brings its own model.
      if (chat.agent !== holder) chosenModel = session.state.model;
      if (chat.options.signal === options.signal) continue;
      interrupts[Symbol.dispose]();
      asked = anySignal(first.options.signal, chat.options.signal);
      signal = anySignal(watch.signal, asked);
      interrupts = new Interrupts([signal], LEFT);
    }
  } catch (error) {
    chat.ended(undefined, error);
    throw error;
  } finally {
    interrupts[Symbol.dispose]();
    chat.ended();
  }
}

/** Returns the chat of a turn handler, which this stream now runs. */
function checkedNext(next: Chat<unknown>, session: Session): Chat<unknown> {
  if (!(next instanceof Chat)) {
    throw new ChatError("no-chat", "A turn handler must return agent.chat(...) or nothing.");
  }
  if (next.options.session && next.options.session !== session) {
    throw new ChatError(
      "other-session",
      "A turn handler returned a chat of another session. Return agent.chat(...) without a session: the conversation continues in its own session.",
    );
  }
  next.adopt();
  return next;
}

function anySignal(one: AbortSignal | undefined, other: AbortSignal | undefined): AbortSignal | undefined {
  return one && other ? AbortSignal.any([one, other]) : (one ?? other);
}

/** Resolves with the handler's result, or with nothing as soon as the signal aborts. */
async function handledUntil<Result>(handled: Result | Promise<Result>, signal: AbortSignal) {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  using _ = onAbort(signal, () => resolve(undefined));
  return await Promise.race([handled, promise]);
}

/** The last turn of a chat, and the agent that has the conversation now. */
interface HeldTurn extends LastTurn {
  readonly holder: ChatAgent;
}

interface NextChat {
  readonly agent: ChatAgent;
  readonly directive: Exclude<Directive, { type: "stop" }>;
  readonly options: ChatOptions;
  /** The previous turn. Absent at the beginning of the chat. */
  readonly before: LastTurn | undefined;
  readonly chosenModel: string | undefined;
}

/** Takes the turn of a directive once its branch is free; nothing if the chat was left or interrupted before. */
async function takeHere(
  chat: Chat<unknown>,
  { agent, directive, options, before, chosenModel }: NextChat,
  { reader, signal, once, onTurn }: ChatWatch,
  interrupts: Interrupts,
): Promise<HeldTurn | undefined> {
  const { session } = chat;
  let holder = agent;
  const heldOn = (path: readonly Message[]) => {
    holder = agent.holderOn(path) ?? agent;
    return holder.ready;
  };
  const holderFor = (path: readonly Message[]) => {
    // A turn handler chooses its agent. Any other chat continues with the agent that has the conversation.
    if (before || !agent.ready.toolbox.handsOver) return agent.ready;
    const isCut = path[0] !== undefined && path[0].parentId !== null;
    return isCut ? knownPath(session, path).then(heldOn) : heldOn(path);
  };
  const { at, id, client, wait = true, sharesLimits } = options;
  const place = continuationLeaf(session.state, at, grownLeaf(session.state, before?.leaf));
  const beside =
    directive.type === "retry" && !wait ? turnStart(directive, pathTo(session.state, place), []) : undefined;
  const startOn = (branch: RunBranch) => {
    tellLeftOut(session, branch.path, chat);
    const start =
      beside ?? turnStart(directive, branch.path, inputsLeft(session.state, branch.path), session.state.broken);
    if (start.type !== "message" || id === undefined) return start;
    if (session.state.messages.has(id))
      throw new ChatError("used-id", `The conversation already has a message with the id ${id}.`);
    return { ...start, id };
  };
  try {
    const begun = beside
      ? session.runs.begin(turnStartLeaf(beside), { ...beginOptions(signal, directive, options), beside: true })
      : session.runs.begin(place, beginOptions(signal, directive, options));
    const taken = await takeTurns(begun, startOn, {
      session,
      agent: holderFor,
      handedTo: (to) => {
        holder = holder.handedTo(to);
        return holder.ready;
      },
      watch: { origin: chat, reader, chosenModel, client, before: sharesLimits ? before?.budget : undefined },
      interrupts,
      where: (leaf) => continuationLeaf(session.state, undefined, leaf),
      continues: () => !once && !signal?.aborted,
      ...(onTurn && { onTurn }),
    });
    return { ...taken, holder };
  } catch (error) {
    if (error instanceof Interruption) return undefined;
    throw error;
  }
}

/** Informs readers once per session about messages that requests leave out (F77). */
function tellLeftOut(session: Session, path: readonly Message[], origin: object): void {
  for (const { id: message, unreadable: reason } of path) {
    if (reason === undefined || session.leftOut.has(message)) continue;
    session.leftOut.add(message);
    session.notify({ type: "message.left-out", message, reason }, origin);
  }
}
