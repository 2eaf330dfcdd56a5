import type { Event, GoalResult, LiveGoal, RunEnd } from "./event.ts";
import type { Message } from "./message.ts";
import { inEnglish, type Say } from "./shown/say.ts";
import { cutTo, visibleLine } from "./shown/visible-text.ts";

type RunEnded = Extract<Event, { readonly type: "run.ended" }>;

/** How a turn ended without a response, and why. See {@link describeBrokenTurn}. */
export interface BrokenTurn {
  readonly run: string;
  readonly reason: Exclude<RunEnd, "answered" | "finished" | "waiting">;
  /** Kind of the failure; for a failure of the model, the code of the `ModelError`. */
  readonly code?: string;
  readonly message?: string;
  /** The goal that the turn did not reach. A run that resumes the turn continues to pursue it. */
  readonly goal?: LiveGoal;
}

/**
 * Returns the reason why a message or waiting input cannot be read, as a sentence (F77); nothing for a readable
 * message.
 * @example
 * for (const message of session.state.messages.values()) console.log(describeUnreadable(message) ?? textOf(message));
 */
export function describeUnreadable(
  message: Pick<Message, "unreadable"> | undefined,
  say: Say = inEnglish,
): string | undefined {
  const reason = message?.unreadable;
  return reason === undefined ? undefined : say("This message cannot be read: {reason}", { reason });
}

/**
 * Returns the reason why a run ended, as a sentence. Returns nothing if the log does not contain one.
 * @example
 * for await (const item of agent.chat(say("Hello"))) if (item.type === "run.ended") console.log(endReason(item));
 */
export function endReason({ error, limit }: Pick<RunEnded, "error" | "limit">): string | undefined {
  return error?.message ?? (limit === undefined ? undefined : `The turn reached ${limit}.`);
}

/** Maximum characters of a reason. */
const LONGEST_REASON = 300;

/**
 * Returns a failed check of a goal in one line, with the first and the last line of its reason.
 * @example failedCheckText({ what: "tests", why: "1 failed" }) // "tests (1 failed)"
 */
export function failedCheckText({ what, why = "" }: Pick<GoalResult, "what" | "why">): string {
  const lines = why.split("\n").filter((line) => line.trim() !== "");
  const [first = "", ...rest] = lines.map((line) => line.trim());
  const ends = rest.length === 0 ? [first] : [first, ...(rest.length > 1 ? ["…"] : []), rest.at(-1)];
  const reason = cutTo(visibleLine(ends.join(" ")), LONGEST_REASON);
  return reason === "" ? visibleLine(what) : `${visibleLine(what)} (${reason})`;
}

/** Error of a run that ended because its session was closed or its process stopped. */
export const CUT_OFF = {
  code: "cut-off",
  message: "The program stopped before the answer was complete.",
} as const;
