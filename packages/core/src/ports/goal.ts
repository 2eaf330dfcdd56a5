import type { GoalResult } from "../conversation/event.ts";
import type { Json } from "../conversation/part.ts";
import type { ConversationState } from "../conversation/state.ts";
import type { Cost, Usage } from "../conversation/usage.ts";

/**
 * A goal of a turn. The turn is done only if all checks pass after the model's last step. A failed check goes back to
 * the model with its reason, and the turn continues.
 * @example
 * const goal: Goal = {
 *   failures: 3,
 *   asked: ["the book has a title"],
 *   checks: [{ what: "the book has a title", run: ({ answer }) => ({ passed: answer.startsWith("# ") }) }],
 * };
 * new Agent({ model, goal });
 */
export interface Goal {
  /** The checks, at least one. They run one after the other, in this order. */
  readonly checks: readonly GoalCheck[];
  /** The turn fails with the code `goal` after this number of equal failures in a row. Default 3. */
  readonly failures?: number | undefined;
  /** The goal in the words of the user. The log keeps this text, so that a host can make the goal again. */
  readonly asked?: Json | undefined;
}

/** One condition of a goal. See {@link Goal}. */
export interface GoalCheck {
  /** The condition in words, for users and the model. */
  readonly what: string;
  /** True to run this check only if all checks before it have passed. Default `false`. */
  readonly last?: boolean | undefined;
  /** Called when the goal begins, before the model's first call. Not called again after a restart. */
  begin?(at: GoalMoment): unknown;
  /** Runs the check. An error counts as a failure, with its message as the reason. */
  run(at: GoalMoment): GoalFinding | Promise<GoalFinding>;
}

/** The result of a check. See {@link Goal}. */
export type GoalFinding = Omit<GoalResult, "what">;

/** The state of a turn in which a check runs. See {@link Goal}. */
export interface GoalMoment {
  /** A key that is the same in all runs of one goal, also after a restart. */
  readonly goal: string;
  /** The conversation, read-only. */
  readonly conversation: ConversationState;
  /** The last message of the branch. */
  readonly leaf: string | null;
  /** Text of the model's last answer. Empty before the first answer. */
  readonly answer: string;
  /** The result of the task, if the model has finished the task. */
  readonly result: Json | undefined;
  /** A signal that aborts when the turn is interrupted, or when its time is up. */
  readonly signal: AbortSignal;
  /** Counts a model call of the check, such as a judge's, as usage of the turn. */
  count(model: string, usage: Usage, cost: Cost): Promise<void>;
}
