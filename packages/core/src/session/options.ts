import type { Delivery } from "../conversation/event.ts";
import type { Cursor } from "../conversation/feed-item.ts";
import { createId, isId } from "../conversation/id.ts";
import { checkTexts, kindProblem, OptionError, type OptionNames, refuseUnknown } from "../conversation/option-names.ts";
import { noId, SessionError } from "./error.ts";

/**
 * Options of `Session.open`.
 * @example
 * await Session.open(store, "news", { create: true, labels: { project: "garden" }, window: 50 });
 * await store.list({ labels: { project: "garden" } });
 */
export interface SessionOptions {
  /** True to create the conversation if its id is unknown. Without an id, a conversation is always created. */
  readonly create?: boolean | undefined;
  /** Labels of a new conversation, such as its directory. Lists of conversations can be filtered by these labels. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /**
   * For endless conversations: how many messages of the path the model sees, and how many stay in memory between turns.
   * The log keeps all messages. Default: no limit.
   */
  readonly window?: number | undefined;
}

/**
 * Options of `Session.say`.
 * @example session.say("In English, please.", { delivery: "queue", run: turn.id, id: createId() });
 */
export interface SayOptions {
  /**
   * `steer` (default): the model sees the input before its next step, after the calls of the current step have results.
   * If there is no next step, the input starts the next turn. `queue`: the input starts the next turn. `interrupt`: the
   * same, and the current turn and its calls end now.
   */
  readonly delivery?: Delivery | undefined;
  /** Id of the run. Default: the live run on the branch with the newest message. */
  readonly run?: string | undefined;
  /** Id of the message, valid for `isId`. Default: a new id. An id that is already used has no effect. */
  readonly id?: string | undefined;
}

/**
 * Options of `Session.add`, which adds a message without a turn.
 * @example
 * await session.add("It is noon.", { at: session.state.leaf, author: "system", id: createId(), worktree: "attempt-1" });
 */
export interface AddMessageOptions {
  /** The parent message; `null` starts a new branch at the root. Default: the newest message. */
  readonly at?: string | null | undefined;
  /** `user` (default): the user wrote the message. `system`: the program states a fact, not a request. */
  readonly author?: "user" | "system" | undefined;
  /** Id of the message, valid for `isId`. Default: a new id. An id that is already used has no effect. */
  readonly id?: string | undefined;
  /** Name of a worktree, not empty. Turns below this message work in its files, if the tools support worktrees. */
  readonly worktree?: string | undefined;
}

const SESSION: OptionNames<SessionOptions> = { create: "boolean", labels: "object", window: true };
const SAY: OptionNames<SayOptions> = { delivery: true, run: "string", id: true };
export const ADD: OptionNames<AddMessageOptions> = { at: true, author: true, id: true, worktree: "string" };
const CURSOR: OptionNames<Cursor> = { seq: "number!", epoch: "number!", offset: "number!" };

/** Throws `OptionError` for an unknown option of a session, and `SessionError` for an invalid window. */
export function checkSessionOptions(options: SessionOptions): void {
  refuseUnknown("a session", options, SESSION);
  const { window, labels } = options;
  checkTexts("a session", labels);
  if (window === undefined || (Number.isInteger(window) && window > 0)) return;
  throw new SessionError("invalid-option", `window is ${window}; it must be a positive whole number of messages.`);
}

/** A branch on which no turn runs, because `session.hold` keeps it. See {@link Session}. */
export interface HeldBranch {
  /** Turns that wait for the branch continue from this message. Throws `SessionError` (`no-message`). */
  moveTo(message: string): void;
}

export function checkedId(what: string, id: string): string {
  if (!isId(id)) throw noId(what, id);
  return id;
}

export function checkDelivery(delivery: Delivery): void {
  if (!["steer", "queue", "interrupt"].includes(delivery))
    throw new OptionError(`delivery is "${delivery}"; it must be "steer", "queue" or "interrupt".`);
}

export function deliveryOptions(options: SayOptions): { readonly delivery: Delivery; readonly input: string } {
  refuseUnknown("session.say", options, SAY);
  const { delivery = "steer", id = createId() } = options;
  checkDelivery(delivery);
  return { delivery, input: checkedId("a message", id) };
}

/** Returns the cursor of `session.feed`. Throws `OptionError` for a value that is no cursor. */
export function feedStart(options: { readonly from?: Cursor | undefined }): Cursor | undefined {
  refuseUnknown("session.feed", options, { from: "object" });
  const { from } = options;
  // A cursor may be an item of the feed, which has more fields.
  const problem = from && kindProblem("session.feed", from, CURSOR, "from.");
  if (problem !== undefined) throw new OptionError(problem);
  return from;
}
