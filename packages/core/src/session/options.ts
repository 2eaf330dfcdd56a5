import type { Delivery } from "../conversation/event.ts";
import { createId, isId } from "../conversation/id.ts";
import { type OptionNames, refuseUnknown } from "../conversation/option-names.ts";
import { noId, SessionError } from "./error.ts";

/** How a conversation is opened. */
export interface SessionOptions {
  /**
   * Begin a conversation of the id that is given when there is none. Without an id, one begins in any case.
   * @example await Session.open(store, "garden", { create: true });
   */
  readonly create?: boolean | undefined;
  /**
   * Facts about a new conversation that lists can be filtered by, such as its directory.
   * @example
   * await Session.open(store, undefined, { labels: { project: "garden" } });
   * await store.list({ labels: { project: "garden" } });
   */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /**
   * Keep only this many messages of the path in memory from turn to turn, and show the model no earlier ones; for
   * conversations without end. The log keeps all. No limit when absent.
   * @example await Session.open(store, "news", { create: true, window: 50 });
   */
  readonly window?: number | undefined;
}

/** How something is said to a run. */
export interface SayOptions {
  /**
   * `steer` (default): the model is told before its next step, when the calls of the step under way have their results;
   * when there is no next step, it is the next turn. `queue`: it is the next turn. `interrupt`: that, and the turn under
   * way ends now, its calls with it.
   * @example session.say("In English, please.", { delivery: "queue" });
   */
  readonly delivery?: Delivery | undefined;
  /**
   * The run that is meant; the one that is live where the conversation was last written to when absent.
   * @example session.say("Only the tests.", { run: turn.id });
   */
  readonly run?: string | undefined;
  /**
   * The id that its message will have, as `isId` says; a new one when absent. One that was used before says nothing again.
   * @example session.say("Stop there.", { id: createId() });
   */
  readonly id?: string | undefined;
}

/** Where a message stands that is added without a turn, and who speaks in it. */
export interface AddOptions {
  /**
   * The message that it stands below; `null`: it begins the conversation anew. Where it was last written to when absent.
   * @example await session.add("It is noon.", { at: session.state.leaf, id: createId() });
   */
  readonly at?: string | null | undefined;
  /**
   * `user` (default): a person says it. `system`: the program around the engine does, as a fact and not as a wish.
   * @example await session.add("The build is green.", { author: "system" });
   */
  readonly author?: "user" | "system" | undefined;
  /** Of the message, as `isId` says; a new one when absent. One that was used before adds nothing again. */
  readonly id?: string | undefined;
  /**
   * The name of a worktree, not empty: all that is said below this message works in its files, where the tools know of it.
   * @example await session.add("From here on the files are those of a worktree.", { worktree: "attempt-1" });
   */
  readonly worktree?: string | undefined;
}

const SESSION: OptionNames<SessionOptions> = { create: true, labels: true, window: true };
const SAY: OptionNames<SayOptions> = { delivery: true, run: true, id: true };
export const ADD: OptionNames<AddOptions> = { at: true, author: true, id: true, worktree: true };

/** Throws for an option of a session that is unknown (`OptionError`), and for a window that cannot be kept (`SessionError`). */
export function checkSessionOptions(options: SessionOptions): void {
  refuseUnknown("a session", options, SESSION);
  const { window } = options;
  if (window === undefined || (Number.isInteger(window) && window > 0)) return;
  throw new SessionError("invalid-option", `window is ${window}; it must be a positive whole number of messages.`);
}

/** The end of a branch that `session.hold` keeps turns away from. */
export interface HeldBranch {
  /** Turns that wait for the branch go on from this message then. Throws `SessionError`: `no-message`. */
  moveTo(message: string): void;
}

/** An id, of `what`. Throws `SessionError` when it cannot be one. */
export function checkedId(what: string, id: string): string {
  if (!isId(id)) throw noId(what, id);
  return id;
}

/** How something is said when `options` do not say it. Throws `SessionError` for an id that cannot be one. */
export function howSaid(options: SayOptions): { readonly delivery: Delivery; readonly input: string } {
  refuseUnknown("session.say", options, SAY);
  const { delivery = "steer", id = createId() } = options;
  return { delivery, input: checkedId("a message", id) };
}
