import type { ChatEnd, FeedItem } from "../conversation/feed-item.ts";
import { ID_RULE, isId } from "../conversation/id.ts";
import type { Message } from "../conversation/message.ts";
import { type OptionNames, refuseUnknown } from "../conversation/option-names.ts";
import { inputsLeft } from "../conversation/tree/inbox.ts";
import { pathTo } from "../conversation/tree/path.ts";
import type { Branch } from "../run/branch.ts";
import { Interruption } from "../session/error.ts";
import type { FeedReader } from "../session/feed.ts";
import type { BeginOptions } from "../session/runs.ts";
import { Session } from "../session/session.ts";
import { type Taken, takeTurns } from "../turn/drive.ts";
import { placeOf, type Turn } from "../turn/turn.ts";
import type { Agent, Conversation } from "./agent.ts";
import { checkedDirective, type Directive, startOf, whereItGrew, whereTo } from "./directive.ts";

/** Where a chat goes on. */
export interface ChatOptions {
  /**
   * The conversation; a new one in memory when absent.
   * @example agent.chat(say("Hello"), { session: await Session.open(store) });
   */
  readonly session?: Session | undefined;
  /**
   * The message to go on from; what is said there is a branch of its own. When absent, where the conversation was last
   * written to; returned by a turn handler, where the chat ended, or behind what was said there while the handler waited.
   * @example agent.chat(say("Why?"), { session, at: leaves(session.state)[0] });
   */
  readonly at?: string | undefined;
  /**
   * The id of the message that the directive adds, or, when it adds none, of its run: for a client that must be able to
   * tell whether what it asked for was done. A new one when absent; it must be one (`isId`), and not in use.
   * @example agent.chat(say("Hello"), { session, id: createId() });
   */
  readonly id?: string | undefined;
  /**
   * What begins the turn, by its name, such as `my-program 0.1`: tools are told (`context.client`).
   * @example agent.chat(say("Hello"), { session, client: "my-program 0.1" });
   */
  readonly client?: string | undefined;
  /**
   * Whether the chat waits while another turn works at its place. Default `true`. With `false`, a retry begins its branch at
   * once, and any other directive rejects with `SessionError` (`busy`), for a server that must not wait until a question of the
   * other turn is answered.
   * @example agent.chat(say("Hello"), { session, wait: false });
   */
  readonly wait?: boolean | undefined;
  /**
   * True if a turn that a handler adds shares the limits of the turn before it: usage, cost, steps and time then count on from
   * there, in its limits and in what it reports. For a turn that no user asked for. Default `false`.
   * @example new Agent({ model, onTurn: (_, agent) => agent.chat(say("Run the tests."), { sharesLimits: true }) });
   */
  readonly sharesLimits?: boolean | undefined;
}

const CHAT: OptionNames<ChatOptions> = {
  session: true,
  at: true,
  id: true,
  client: true,
  wait: true,
  sharesLimits: true,
};

/** A chat is used in a way that it cannot be. */
export class ChatError extends Error {
  override readonly name = "ChatError";
  readonly code: "iterated" | "other-session" | "no-session" | "no-chat" | "no-id" | "used-id";

  constructor(code: ChatError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * One stream for a whole conversation. Inert until it is iterated; returned from a turn handler instead, it tells the
 * chat under way how to go on.
 */
export class Chat implements AsyncIterable<FeedItem> {
  /** Who takes the first turn. */
  readonly agent: Agent;
  /** What it begins with. */
  readonly directive: Directive;
  /** Where it goes on. */
  readonly options: ChatOptions;
  #session: Session | undefined;
  #iterated = false;

  /** Throws `DirectiveError` or `ChatError` for what only a program without types can pass. */
  constructor(agent: Agent, directive: Directive, options: ChatOptions) {
    this.directive = checkedDirective(directive, agent.options.model);
    refuseUnknown("a chat", options, CHAT);
    if (options.session !== undefined && !(options.session instanceof Session)) {
      throw new ChatError("no-session", "The session of a chat is what Session.open() resolves with; await that.");
    }
    if (options.id !== undefined && !isId(options.id))
      throw new ChatError("no-id", `The id that a chat gives is ${ID_RULE}; this is ${JSON.stringify(options.id)}.`);
    this.agent = agent;
    this.options = options;
    this.#session = options.session;
  }

  /** The conversation's session; a new one in memory if none was given. */
  get session(): Session {
    this.#session ??= Session.inMemory();
    return this.#session;
  }

  /**
   * Starts the conversation. A chat can be iterated once; leaving the iteration early interrupts the turn under way. A turn in
   * which a user is asked waits on instead, in the log: `resume()` continues it.
   */
  [Symbol.asyncIterator](): AsyncIterableIterator<FeedItem> {
    if (this.#iterated) throw new ChatError("iterated", "This chat was iterated before; call agent.chat() again.");
    this.#iterated = true;
    const left = new AbortController();
    let turn: Promise<unknown> = Promise.resolve();
    const reader = this.session.attach(this, async () => {
      left.abort();
      // The reader has left: only that the turn has ended matters, and not how.
      await turn.catch(() => {});
    });
    const watch = { reader, signal: left.signal, onStart: (started: Promise<unknown>) => (turn = started) };
    converse(this, watch).then(
      (reason) => {
        reader.push({ type: "chat.ended", reason });
        this.session.detach(reader);
      },
      // A handler that rejects without a reason has failed all the same.
      (error: unknown) =>
        this.session.detach(reader, error ?? new Error("The turn handler rejected without a reason.")),
    );
    return reader;
  }
}

const LEFT = new Interruption("interrupted by the caller", { isLeaving: true });

/** Who looks on while a chat goes on. */
export interface ChatWatch {
  readonly reader?: FeedReader;
  /** Interrupts the turn under way and ends the chat. */
  readonly signal?: AbortSignal | undefined;
  /** Ends the chat after one turn, whatever waits to be delivered. */
  readonly once?: boolean;
  onStart?(turn: Promise<unknown>): void;
  onTurn?(turn: Turn): void;
}

/**
 * The trampoline: one turn after the other, each begun with what the handler of the one before returned. What goes from
 * turn to turn is where the branch ends, so that a million turns need neither stack nor memory: a handler that iterated
 * `agent.chat(...)` itself would stand on the stack, with its feed, below every turn that comes after it.
 */
export async function converse(first: Chat, watch: ChatWatch): Promise<ChatEnd> {
  const { session } = first;
  let { agent, directive, options } = first;
  let before: Taken | undefined;
  let chosenModel = session.state.model;
  for (;;) {
    if (directive.type === "stop") return "stop";
    const taking = takeHere(first, { agent, directive, options, before, chosenModel }, watch);
    watch.onStart?.(taking);
    const taken = await taking;
    if (!taken) return "interrupted";
    const { turn, leaf } = taken;
    before = taken;
    const { onTurn } = agent.options;
    // A turn that waits is not over: who continues it asks the handler.
    if (!onTurn || turn.reason === "waiting" || watch.signal?.aborted) return turn.reason;
    const next = await onTurn(conversationAt(session, leaf), agent, turn);
    if (!next) return "stop";
    if (!(next instanceof Chat)) {
      throw new ChatError("no-chat", "A turn handler returns agent.chat(...), or nothing.");
    }
    if (next.options.session && next.options.session !== session) {
      throw new ChatError(
        "other-session",
        "A turn handler returned a chat of another session; a conversation goes on in its own.",
      );
    }
    if (watch.signal?.aborted) return turn.reason;
    // Whoever returns another agent has chosen its model.
    if (next.agent !== agent) chosenModel = session.state.model;
    ({ agent, directive, options } = next);
  }
}

/** With what a chat goes on. */
interface Next {
  readonly agent: Agent;
  readonly directive: Exclude<Directive, { type: "stop" }>;
  readonly options: ChatOptions;
  /** The turn before; `undefined` at the beginning of the chat. */
  readonly before: Taken | undefined;
  readonly chosenModel: string | undefined;
}

/** Takes the turn of a directive, once its branch is free; nothing if the chat was left or interrupted before that. */
async function takeHere(
  chat: Chat,
  { agent, directive, options, before, chosenModel }: Next,
  { reader, signal, once, onTurn }: ChatWatch,
): Promise<Taken | undefined> {
  const { session } = chat;
  const { at, id, client, wait = true, sharesLimits } = options;
  const place = whereTo(session.state, at, whereItGrew(session.state, before?.leaf));
  const beside = directive.type === "retry" && !wait ? startOf(directive, pathTo(session.state, place), []) : undefined;
  const startOn = (branch: Branch) => {
    tellLeftOut(session, branch.path, chat);
    const start = beside ?? startOf(directive, branch.path, inputsLeft(session.state, branch.path));
    if (start.type !== "message" || id === undefined) return start;
    if (session.state.messages.has(id)) throw new ChatError("used-id", `There is a message ${id} already.`);
    return { ...start, id };
  };
  try {
    const begun = beside
      ? session.begin(placeOf(beside), { ...beginning(signal, directive, options), beside: true })
      : session.begin(place, beginning(signal, directive, options));
    return await takeTurns(begun, startOn, {
      session,
      agent: () => agent.ready,
      watch: { origin: chat, reader, chosenModel, client, before: sharesLimits ? before?.budget : undefined },
      signals: [signal],
      left: LEFT,
      where: (leaf) => whereTo(session.state, undefined, leaf),
      goesOn: () => !once && !signal?.aborted,
      ...(onTurn && { onTurn }),
    });
  } catch (error) {
    if (error instanceof Interruption) return undefined;
    throw error;
  }
}

/** Tells whoever watches of the messages on a path that requests leave out (F77): once while the session is open. */
function tellLeftOut(session: Session, path: readonly Message[], origin: object): void {
  for (const { id: message, unreadable: reason } of path) {
    if (reason === undefined || session.leftOut.has(message)) continue;
    session.leftOut.add(message);
    session.notify({ type: "message.left-out", message, reason }, origin);
  }
}

function conversationAt(session: Session, leaf: string | null): Conversation {
  let path: readonly Message[] | undefined;
  return {
    id: session.id,
    state: session.state,
    leaf,
    get path() {
      // Only for a handler that looks: a long conversation has a long path.
      path ??= pathTo(session.state, leaf);
      return path;
    },
  };
}

/** How the run of a directive begins. An id is that of the message which it adds, else of the run. */
function beginning(
  signal: AbortSignal | undefined,
  directive: Directive,
  { at, id, wait: waits = true }: ChatOptions,
): BeginOptions {
  const says = "parts" in directive && directive.parts !== undefined;
  const isResumed = directive.type === "resume";
  return { signal, id: says ? undefined : id, says, named: at !== undefined, goesOn: isResumed, waits };
}
