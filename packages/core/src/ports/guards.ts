import type { UserPart } from "../conversation/part.ts";
import type { ConversationState } from "../conversation/state.ts";

/** The decision of a guard: nothing lets the message pass. `refuse` is the reason, for users. */
export type GuardVerdict = { readonly refuse: string } | { readonly replace: string } | undefined;

/** The situation of a guard. */
export interface GuardedTurn<Context = unknown> {
  readonly agent: string;
  /** The option `context` of the agent. */
  readonly context: Context;
  readonly conversation: ConversationState;
  /** Aborts when the turn is interrupted, so that the decision is not needed. */
  readonly signal: AbortSignal;
}

/** A message of a user. `replace` changes its text and keeps its files. */
export interface GuardedMessage {
  readonly text: string;
  readonly parts: readonly UserPart[];
}

/** A complete response of the model, before its calls run. `replace` changes its text, drops its reasoning, keeps its calls. */
export interface GuardedResponse {
  readonly text: string;
  readonly reasoning: string;
  /** The calls as the model wrote them; `input` is the text of their arguments. */
  readonly calls: readonly { readonly tool: string; readonly input: string }[];
}

/**
 * Functions that check the messages of users and the responses of the model. They also check those of sub-agents. A
 * guard that throws refuses the message.
 * @example
 * new Agent({
 *   model,
 *   guards: {
 *     input: ({ text }) => (text.includes("password") ? { refuse: "Write no passwords here." } : undefined),
 *     output: ({ text }) => ({ replace: text.replaceAll(/\d{16}/g, "[card number]") }),
 *     hold: true,
 *   },
 * });
 */
export interface Guards<Context = unknown> {
  /**
   * Checks each message of a user before the model gets the message. If the guard refuses the message that begins a
   * turn, nothing is written, and `send` rejects with `DirectiveError` (`refused`). The log may already contain a message
   * that was sent during a turn; a refused one is withdrawn, and the feed has the reason (`request.changed`).
   */
  readonly input?:
    | ((message: GuardedMessage, turn: GuardedTurn<Context>) => GuardVerdict | void | Promise<GuardVerdict | void>)
    | undefined;
  /** Checks each response of the model. If the guard refuses, no call of the response runs, and the turn fails (`refused`). */
  readonly output?:
    | ((response: GuardedResponse, turn: GuardedTurn<Context>) => GuardVerdict | void | Promise<GuardVerdict | void>)
    | undefined;
  /**
   * True: nobody sees a response before the guard `output` has passed it, and a refused response is in no log. False: the
   * text is shown while it is written, and clients remove it after a refusal. Default true.
   */
  readonly hold?: boolean | undefined;
}
