import type { FeedItem } from "../conversation/feed-item.ts";
import { ID_RULE, isId } from "../conversation/id.ts";
import type { Message } from "../conversation/message.ts";
import { OptionError, type OptionNames, refuseUnknown } from "../conversation/option-names.ts";
import { shownKind } from "../conversation/shape-problem.ts";
import type { ConversationState } from "../conversation/state.ts";
import { isBlockedByUser } from "../conversation/tree/asking-run.ts";
import { pathTo } from "../conversation/tree/path.ts";
import { Session } from "../session/session.ts";

/** The conversation that a turn handler gets, read-only. See {@link AgentOptions}. */
export interface Conversation {
  readonly id: string;
  /** The whole tree. The tree changes while the conversation continues. */
  readonly state: ConversationState;
  readonly leaf: string | null;
  /** The path to `leaf`. The handler gets the path of the moment in which it first reads this property. */
  readonly path: readonly Message[];
}

/**
 * Options of a chat.
 * @example
 * agent.chat(say("Why?"), {
 *   session,
 *   at: leaves(session.state)[0],
 *   id: createId(),
 *   client: "my-program 0.1",
 *   wait: false,
 *   sharesLimits: false,
 * });
 */
export interface ChatOptions {
  /** The conversation. Default: a new conversation in memory. */
  readonly session?: Session | undefined;
  /**
   * The message to continue from, on a new branch. Default: the newest message. In a chat that a turn handler returns,
   * the default is the end of the chat, or of messages that were added there while the handler waited.
   */
  readonly at?: string | undefined;
  /**
   * Id of the message that the directive adds. If no message is added: id of the run. A client can look up this id
   * after a lost connection. The id must be valid (`isId`) and unused. Default: a new id.
   */
  readonly id?: string | undefined;
  /** Name of the client that begins the turn, for tools (`context.client`). */
  readonly client?: string | undefined;
  /**
   * With `true` (default), waits while another turn works on the branch. With `false`, does not wait: a retry begins
   * its branch at once, and any other directive rejects with `SessionError` (`busy`).
   */
  readonly wait?: boolean | undefined;
  /**
   * True if the turn that a handler adds shares the limits of the previous turn: usage, cost, steps and time continue
   * to count. Use this for a turn that no user asked for. Default `false`.
   */
  readonly sharesLimits?: boolean | undefined;
  /**
   * A signal that interrupts the running turn and ends the chat. A turn that asks a user stays open in the log, and
   * `resume()` continues it. Absent: the chat ends early only by its reader or by the session.
   * @example for await (const text of agent.chat(say("Hello"), { signal: AbortSignal.timeout(60_000) }).text) console.log(text);
   */
  readonly signal?: AbortSignal | undefined;
}

const CHAT: OptionNames<ChatOptions> = {
  session: true,
  at: "string",
  id: true,
  client: "string",
  wait: "boolean",
  sharesLimits: "boolean",
  signal: true,
};

/** Throws `OptionError` or `ChatError` for options whose types the compiler would refuse. */
export function checkChatOptions(options: ChatOptions): void {
  refuseUnknown("a chat", options, CHAT);
  const { session, id, signal } = options;
  if (session !== undefined && !(session instanceof Session))
    throw new ChatError(
      "no-session",
      "The session of a chat must be a Session. Session.open() returns a promise: await that promise.",
    );
  if (id !== undefined && !isId(id))
    throw new ChatError("no-id", `The id of a chat must be ${ID_RULE}; the given id is ${JSON.stringify(id)}.`);
  checkSignal("a chat", signal);
}

/** Options of `agent.send`. */
export interface SendOptions extends Omit<ChatOptions, "sharesLimits"> {
  /**
   * With `true`, the turn resolves with `waiting` as soon as only a user's answer can continue it. `turn.questions` has
   * the open questions. `agent.answer` continues the turn, in any process. If a tool cannot run again (`survives:
   * false`), `send` still waits for the answer to its question. Default `false`.
   * @example const { questions } = await agent.send("Refund order 7.", { session, untilAsked: true });
   */
  readonly untilAsked?: boolean | undefined;
}

export const SEND: OptionNames<SendOptions> = {
  session: true,
  at: true,
  id: true,
  client: true,
  wait: true,
  signal: true,
  untilAsked: "boolean",
};

/** Options of `agent.answer`. */
export interface AnswerOptions extends Pick<SendOptions, "client" | "signal"> {
  /** The conversation, which this process has opened. */
  readonly session: Session;
}

export const ANSWER: OptionNames<AnswerOptions> = { session: "object!", client: "string", signal: "object" };

/** Throws `OptionError` for a value that is no session. */
export function checkSession(owner: string, session: Session): void {
  if (session instanceof Session) return;
  const what = `The session of ${owner} must be a Session, not ${shownKind(session)}`;
  throw new OptionError(`${what}; Session.open() returns a promise: await that promise.`);
}

/** Throws `OptionError` for a value that is no signal. */
export function checkSignal(owner: string, signal: AbortSignal | undefined): void {
  if (signal === undefined || signal instanceof AbortSignal) return;
  throw new OptionError(`The signal of ${owner} must be an AbortSignal. Pass controller.signal, not the controller.`);
}

/**
 * Returns a path with all its messages, also those before the session's window. A session in memory has only its
 * window.
 */
export function knownPath(session: Session, path: readonly Message[]): Promise<readonly Message[]> {
  return session.wholePath(path).catch(() => path);
}

/**
 * Error of a program that uses a chat in a wrong way.
 * @example
 * const onTurn: TurnHandler = () => {
 *   throw new ChatError("no-chat", "The game is over.");
 * };
 */
export class ChatError extends Error {
  override readonly name = "ChatError";
  readonly code: "iterated" | "other-session" | "no-session" | "no-chat" | "no-id" | "used-id";

  constructor(code: ChatError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/** Returns the conversation for a turn handler. */
export function handlerConversation(session: Session, leaf: string | null): Conversation {
  let path: readonly Message[] | undefined;
  return {
    id: session.id,
    state: session.state,
    leaf,
    get path() {
      // Computed on demand: the path of a long conversation is long.
      path ??= pathTo(session.state, leaf);
      return path;
    },
  };
}

/** Returns a signal. It aborts as soon as the turn with this id cannot continue before a user answers. */
export function whenOnlyWaiting(session: Session, id: string): Disposable & { readonly signal: AbortSignal } {
  const asked = new AbortController();
  let run: string | undefined;
  const items = (shown: readonly FeedItem[]) => {
    for (const item of shown) {
      if (item.type !== "run.started") continue;
      // The id names the turn's message or its run. After a hand-off, another run continues the turn.
      const continues = item.continues !== undefined && item.continues === run;
      if (item.run === id || item.leaf === id || continues) run = item.run;
    }
    if (run !== undefined && isBlockedByUser(session.state, run)) asked.abort();
  };
  const stop = session.listen({ items, ended() {} });
  return { signal: asked.signal, [Symbol.dispose]: stop };
}
