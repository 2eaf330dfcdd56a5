import type { ChatEnd, FeedItem } from "../conversation/event.ts";
import { ID_RULE, isId } from "../conversation/id.ts";
import type { Message } from "../conversation/message.ts";
import type { WaitingInput } from "../conversation/state.ts";
import { pathTo } from "../conversation/tree/path.ts";
import { Branch } from "../run/branch.ts";
import { inputsFor, inputsLeft } from "../run/inputs.ts";
import { Interruption, SessionError } from "../session/error.ts";
import type { FeedReader } from "../session/feed.ts";
import { type BeginOptions, interruptOn, type RunHandle } from "../session/runs.ts";
import { Session } from "../session/session.ts";
import { runTurn, type Turn, type TurnStart } from "../turn/turn.ts";
import type { Agent, Conversation } from "./agent.ts";
import { checkDirective, type Directive, startOf, whereItGrew, whereTo } from "./directive.ts";
import { turnAgent } from "./prepare.ts";

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
}

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
    checkDirective(directive);
    if (options.session !== undefined && !(options.session instanceof Session)) {
      throw new ChatError("no-session", "The session of a chat is what Session.open() resolves with; await that.");
    }
    if (options.id !== undefined && !isId(options.id))
      throw new ChatError("no-id", `The id that a chat gives is ${ID_RULE}; this is ${JSON.stringify(options.id)}.`);
    this.agent = agent;
    this.directive = directive;
    this.options = options;
    this.#session = options.session;
  }

  /** The conversation's session; a new one in memory if none was given. */
  get session(): Session {
    this.#session ??= Session.inMemory();
    return this.#session;
  }

  /**
   * Starts the conversation. A chat can be iterated once; leaving the iteration early interrupts the turn under way.
   */
  [Symbol.asyncIterator](): AsyncIterableIterator<FeedItem> {
    if (this.#iterated) throw new ChatError("iterated", "This chat was iterated before; call agent.chat() again.");
    this.#iterated = true;
    const left = new AbortController();
    let turn: Promise<unknown> = Promise.resolve();
    const reader = this.session.attach(this, async () => {
      left.abort();
      // What the turn came to is nobody's any more; that it has ended is what matters here.
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

const LEFT = new Interruption("interrupted by the caller");

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
  let { agent, options } = first;
  let directive: Directive | Delivering = first.directive;
  let leaf: string | null | undefined;
  let chosenModel = session.state.model;
  /** The last one. */
  let turn: Turn | undefined;
  for (;;) {
    if (directive.type === "stop") return "stop";
    const { at, id } = options;
    const begun =
      directive.type === "deliver"
        ? directive.begun
        : session.begin(
            whereTo(session.state, at, whereItGrew(session.state, leaf)),
            beginning(watch.signal, directive, options),
          );
    const taking = takeTurn(first, agent, directive, { begun, id, chosenModel, client: options.client }, watch);
    watch.onStart?.(taking);
    const taken = await taking;
    if (!taken) return "interrupted";
    const { delivering } = taken;
    leaf = taken.leaf;
    if (taken.turn) {
      turn = taken.turn;
      watch.onTurn?.(turn);
    }
    if (delivering) {
      directive = delivering;
      options = {};
      continue;
    }
    const { onTurn } = agent.options;
    // Only what waits is delivered, and it waits for a turn that was taken.
    if (!turn) return "stop";
    if (!onTurn || watch.signal?.aborted) return turn.reason;
    const next = await onTurn(conversationAt(session, taken.leaf), agent, turn);
    if (!next) return "stop";
    if (!(next instanceof Chat)) {
      throw new ChatError("no-chat", "A turn handler answers with agent.chat(...), or with nothing.");
    }
    if (next.options.session && next.options.session !== session) {
      throw new ChatError(
        "other-session",
        "A turn handler answered with a chat of another session; a conversation goes on in its own.",
      );
    }
    if (watch.signal?.aborted) return turn.reason;
    // Whoever returns another agent has chosen its model.
    if (next.agent !== agent) chosenModel = session.state.model;
    ({ agent, directive, options } = next);
  }
}

/**
 * The next turn begins with what a person said while the one before ran: nobody is asked for a line who has said it
 * already.
 */
interface Delivering {
  readonly type: "deliver";
  readonly inputs: readonly WaitingInput[];
  readonly begun: RunHandle;
}

function conversationAt(session: Session, leaf: string | null): Conversation {
  let path: readonly Message[] | undefined;
  return {
    id: session.id,
    state: session.state,
    get path() {
      // Only for a handler that looks: a long conversation has a long path.
      path ??= pathTo(session.state, leaf);
      return path;
    },
  };
}

/** How the run of a directive begins. An id is that of the message which it adds, else of the run. */
function beginning(signal: AbortSignal | undefined, directive: Directive, { at, id }: ChatOptions): BeginOptions {
  const says = "parts" in directive && directive.parts !== undefined;
  return { signal, id: says ? undefined : id, says, named: at !== undefined, goesOn: directive.type === "resume" };
}

/** What a turn begins with, besides its directive. */
interface Beginning {
  readonly begun: RunHandle | Promise<RunHandle>;
  readonly id: string | undefined;
  readonly chosenModel: string | undefined;
  readonly client: string | undefined;
}

/** A turn (none when it had nothing to begin with), where it ended, and what was said to it meanwhile. */
interface Taken {
  readonly turn: Turn | undefined;
  readonly leaf: string | null;
  readonly delivering: Delivering | undefined;
}

/** Takes the next turn once its branch is free; nothing if the chat was left or interrupted before that. */
async function takeTurn(
  chat: Chat,
  agent: Agent,
  directive: Exclude<Directive, { type: "stop" }> | Delivering,
  { begun, id, chosenModel, client }: Beginning,
  { reader, signal, once }: ChatWatch,
): Promise<Taken | undefined> {
  const { session } = chat;
  let handle: RunHandle;
  try {
    handle = await begun;
  } catch (error) {
    if (error instanceof Interruption) return undefined;
    throw error;
  }
  using _ = interruptOn([signal], handle, LEFT);
  let branch = branchTo(session, handle.leaf);
  let turn: Turn;
  try {
    let start: TurnStart =
      directive.type === "deliver"
        ? { type: "inputs", parentId: branch.leaf, inputs: directive.inputs }
        : startOf(directive, branch.path, inputsLeft(session.state, branch.path));
    if (start.type === "message" && id !== undefined) {
      if (session.state.messages.has(id)) throw new ChatError("used-id", `There is a message ${id} already.`);
      start = { ...start, id };
    }
    const from = start.type === "here" ? start.leaf : start.parentId;
    if (from !== branch.leaf) {
      await handle.moveTo(from);
      branch = new Branch(session, from);
    }
    const watch = { origin: chat, reader, chosenModel, client };
    turn = await runTurn(handle, session, turnAgent(agent), branch, start, watch);
  } catch (error) {
    handle.end(branch.leaf);
    if (error instanceof Interruption) return undefined;
    // What was said was taken back before it could be heard: the chat goes on as if it had not been said.
    if (directive.type === "deliver" && error instanceof SessionError && error.code === "no-input") {
      return { turn: undefined, leaf: branch.leaf, delivering: undefined };
    }
    throw error;
  }
  lastBranches.set(session, branch);
  const { leaf } = branch;
  // Somebody steers in the moment in which the turn ends: the run was live, so `session.say` took the text, and the last step
  // is over, so no step will hear it. It stands in the log with the id of this run: looked for here, after `run.ended` and
  // in the tick in which the branch is handed on, it begins the next turn. After this look the run is not live any more.
  const inputs = once || signal?.aborted ? [] : inputsFor(session.state, turn.id);
  if (inputs.length > 0) {
    // What was said to this turn comes before whoever waits for the branch.
    const next = handle.goOn(whereTo(session.state, undefined, leaf));
    return { turn, leaf, delivering: { type: "deliver", inputs, begun: next } };
  }
  handle.end(leaf);
  return { turn, leaf, delivering: undefined };
}

/** Where the last turn of a session ended, for the one that goes on there: a long path is walked once, not by each. */
const lastBranches = new WeakMap<Session, Branch>();

/** The branch down to a message. Whoever takes the last one has it alone. */
function branchTo(session: Session, leaf: string | null): Branch {
  const last = lastBranches.get(session);
  lastBranches.delete(session);
  return last?.leaf === leaf ? last : new Branch(session, leaf);
}
