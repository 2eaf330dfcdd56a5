import type { Call, Json, Message } from "../conversation/message.ts";
import { isSameInput } from "./checked-input.ts";

/** From here on the model is told that a call fails again and again (B67). */
const FAILING = 3;
/** From here on it is told that a call answers the same again and again (C10). */
const SAME = 5;

/** How what is added to a result begins: a result is the same with and without it. */
const NOTE = "\n\n[Banyan: ";

/** A call that is about to have its result. */
export interface Ending {
  readonly id: string;
  readonly tool: string;
  readonly input?: Json | undefined;
  readonly status: "completed" | "failed" | "denied" | "cancelled";
  readonly output: string;
}

/**
 * How often a call has come to the same with this time: 1 for the first. Only what happened on the path since its message
 * `from` counts, and only since a call last changed a file; a call that was cancelled came to nothing.
 */
export function timesTheSame(path: readonly Message[], from: number, ending: Ending): number {
  return ending.status === "cancelled" ? 0 : 1 + repeatsBefore(path, from, ending);
}

/** The result of a call, which says so when it has come to the same so often that asking again is of no use. */
export function withRepeats({ status, output }: Ending, times: number): string {
  if (status === "completed") {
    if (times < SAME) return output;
    return `${output}${NOTE}this same call has had this same result ${times} times in this turn. Asking again will not change it: go on with what you have, or do something else.]`;
  }
  if (times < FAILING) return output;
  return `${output}${NOTE}this same call has now failed ${times} times in this turn. Sent once more as it is, it will most likely fail again: change its arguments, do something else, or say what is in the way.]`;
}

/** Calls of one step count once: none of them was asked for with the result of another in sight. */
function repeatsBefore(path: readonly Message[], from: number, ending: Ending): number {
  let times = 0;
  for (let i = path.length - 1; i >= from; i--) {
    const message = path[i] as Message;
    if (message.role !== "assistant") continue;
    let isOwn = false;
    let isRepeated = false;
    for (const call of message.calls.toReversed()) {
      // Something is otherwise since: a test that is run after each edit is no repetition.
      if (call.changes?.length) return isRepeated && !isOwn ? times + 1 : times;
      if (call.id === ending.id) isOwn = true;
      if (call.tool !== ending.tool || !isSameInput(call.executedInput ?? call.input, ending.input)) continue;
      if (call.id !== ending.id && !isSameEnd(call, ending)) return times;
      isRepeated = true;
    }
    if (isRepeated && !isOwn) times++;
  }
  return times;
}

function isSameEnd({ status, output = "" }: Call, ending: Ending): boolean {
  if (ending.status !== "completed") return status === "failed" || status === "denied";
  return status === "completed" && (output === ending.output || output.startsWith(ending.output + NOTE));
}
