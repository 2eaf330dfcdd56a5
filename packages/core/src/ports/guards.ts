import type { UserPart } from "../conversation/part.ts";
import type { ConversationState } from "../conversation/state.ts";

/** The decision of a guard. `undefined` accepts the message. `refuse` is the reason, for users. */
export type GuardVerdict = { readonly refuse: string } | { readonly replace: string } | undefined;

/** Information about the turn for a guard. */
export interface GuardedTurn<Context = unknown> {
  readonly agent: string;
  /** The option `context` of the agent. */
  readonly context: Context;
  readonly conversation: ConversationState;
  /** A signal that aborts when the run is interrupted: the decision is then no longer needed. */
  readonly signal: AbortSignal;
}

/** A message of a user. `replace` changes its text and keeps its files. */
export interface GuardedMessage {
  readonly text: string;
  readonly parts: readonly UserPart[];
}

/**
 * A complete response of the model, before its calls run. `replace` changes its text, removes its reasoning, and keeps
 * its calls.
 */
export interface GuardedResponse {
  readonly text: string;
  readonly reasoning: string;
  /** The calls as the model wrote them; `input` is the text of their arguments. */
  readonly calls: readonly { readonly tool: string; readonly input: string }[];
}

/**
 * Functions that check the messages of users and the responses of the model. They also check sub-agents. An error of a
 * guard counts as a refusal.
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
   * Checks each message of a user before the model gets it. If the guard refuses the message that begins a turn,
   * nothing is written to the log, and `send` rejects with `DirectiveError` (`refused`). A message that is sent during
   * a turn is already in the log when the guard checks it. If the guard refuses it, Banyan withdraws the message, and
   * the feed has the reason (`request.changed`).
   */
  readonly input?:
    | ((message: GuardedMessage, turn: GuardedTurn<Context>) => GuardVerdict | void | Promise<GuardVerdict | void>)
    | undefined;
  /** Checks each response of the model. If the guard refuses, no call of the response runs, and the turn fails (`refused`). */
  readonly output?:
    | ((response: GuardedResponse, turn: GuardedTurn<Context>) => GuardVerdict | void | Promise<GuardVerdict | void>)
    | undefined;
  /**
   * True: clients and the log get a response only after the guard `output` accepts it. False: clients show the text
   * while the model writes it, and remove the text after a refusal. Default true.
   */
  readonly hold?: boolean | undefined;
}
