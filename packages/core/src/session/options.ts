import type { Delivery } from "../conversation/event.ts";
import { createId, isId } from "../conversation/id.ts";
import { type OptionNames, refuseUnknown } from "../conversation/option-names.ts";
import { noId, SessionError } from "./error.ts";

/** Options for opening a conversation. */
export interface SessionOptions {
  /**
   * Creates the conversation if no conversation has the given id. Without an id, a new conversation is always created.
   * @example await Session.open(store, "garden", { create: true });
   */
  readonly create?: boolean | undefined;
  /**
   * Facts about a new conversation, such as its directory. Lists can be filtered by labels.
   * @example
   * await Session.open(store, undefined, { labels: { project: "garden" } });
   * await store.list({ labels: { project: "garden" } });
   */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /**
   * Number of messages of the path that stay in memory between turns and that the model sees, for conversations without
   * end. The log keeps all messages. Absent: no limit.
   * @example await Session.open(store, "news", { create: true, window: 50 });
   */
  readonly window?: number | undefined;
}

/** Options for an input to a run. */
export interface SayOptions {
  /**
   * `steer` (default): the model sees the input before its next step, after the calls of the current step have results;
   * without a next step, the input starts the next turn. `queue`: the input starts the next turn. `interrupt`: the
   * same, and the current turn and its calls end now.
   * @example session.say("In English, please.", { delivery: "queue" });
   */
  readonly delivery?: Delivery | undefined;
  /**
   * Id of the run. Absent: the live run on the branch that was last written to.
   * @example session.say("Only the tests.", { run: turn.id });
   */
  readonly run?: string | undefined;
  /**
   * Id of the message, valid for `isId`. Absent: a new id. An id that is already used has no effect.
   * @example session.say("Stop there.", { id: createId() });
   */
  readonly id?: string | undefined;
}

/** The parent and the author of a message that is added without a turn. */
export interface AddMessageOptions {
  /**
   * The parent message; `null` starts a new branch at the root. Absent: the message that was last written to.
   * @example await session.add("It is noon.", { at: session.state.leaf, id: createId() });
   */
  readonly at?: string | null | undefined;
  /**
   * `user` (default): the user wrote the message. `system`: the program states a fact, not a request.
   * @example await session.add("The build is green.", { author: "system" });
   */
  readonly author?: "user" | "system" | undefined;
  /** Id of the message, valid for `isId`. Absent: a new id. An id that is already used has no effect. */
  readonly id?: string | undefined;
  /**
   * Name of a worktree, not empty. Turns below this message work in its files, if the tools support worktrees.
   * @example await session.add("From here on the files are those of a worktree.", { worktree: "attempt-1" });
   */
  readonly worktree?: string | undefined;
}

const SESSION: OptionNames<SessionOptions> = { create: true, labels: true, window: true };
const SAY: OptionNames<SayOptions> = { delivery: true, run: true, id: true };
export const ADD: OptionNames<AddMessageOptions> = { at: true, author: true, id: true, worktree: true };

/** Throws `OptionError` for an unknown option of a session, and `SessionError` for an invalid window. */
export function checkSessionOptions(options: SessionOptions): void {
  refuseUnknown("a session", options, SESSION);
  const { window } = options;
  if (window === undefined || (Number.isInteger(window) && window > 0)) return;
  throw new SessionError("invalid-option", `window is ${window}; it must be a positive whole number of messages.`);
}

/** The end of a branch that `session.hold` keeps turns away from. */
export interface HeldBranch {
  /** Turns that wait for the branch continue from this message. Throws `SessionError` (`no-message`). */
  moveTo(message: string): void;
}

/** Returns the id; `what` names its owner. Throws `SessionError` for an invalid id. */
export function checkedId(what: string, id: string): string {
  if (!isId(id)) throw noId(what, id);
  return id;
}

/** Fills in the defaults of an input's options. Throws `SessionError` for an invalid id. */
export function deliveryOptions(options: SayOptions): { readonly delivery: Delivery; readonly input: string } {
  refuseUnknown("session.say", options, SAY);
  const { delivery = "steer", id = createId() } = options;
  return { delivery, input: checkedId("a message", id) };
}
