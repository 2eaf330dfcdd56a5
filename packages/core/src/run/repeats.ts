import type { Json } from "../conversation/message.ts";
import { Recent } from "../past/recent.ts";
import { digestOf } from "../toolbox/toolbox.ts";

/** From here on the model is told that a call fails again and again (B67). */
const FAILING = 3;
/** From here on it is told that a call comes to the same again and again (C10). */
const SAME = 5;
/**
 * How many different calls are remembered, at least: one that comes back after as many others does not count as a
 * repetition.
 */
const KNOWN = 200;
/** Characters of a call from which on its digest is kept in its place. */
const LONG = 1_000;

/** A call that is about to have its result. */
export interface EndingCall {
  readonly tool: string;
  readonly input?: Json | undefined;
  readonly status: "completed" | "failed" | "denied" | "cancelled";
  readonly output: string;
}

/** How a call ended last, in how many steps in a row it ended like that, and which message asked for it last. */
interface Last {
  readonly message: string;
  /** What it came to; nothing when it failed or was denied, whatever was said of that. */
  readonly output: string | undefined;
  readonly times: number;
}

/** What the calls of a turn came to, as far as no call has changed a file since. */
export class Repeats {
  readonly #last = new Recent<Last>(KNOWN);

  /**
   * How often in a row this call has come to the same, this time included: 1 for the first. Calls of one message count once,
   * since none of them was asked for with the result of another in sight. A cancelled call does not count.
   */
  count({ tool, input, status, output }: EndingCall, message: string): number {
    if (status === "cancelled") return 0;
    const written = `${tool} ${JSON.stringify(input)}`;
    const key = written.length > LONG ? digestOf(written) : written;
    const before = this.#last.get(key);
    const returned = status === "completed" ? output : undefined;
    const isSame = before?.output === returned;
    const times = before && isSame ? before.times + (before.message === message ? 0 : 1) : 1;
    this.#last.set(key, { message, output: returned, times });
    return times;
  }

  /** A call changed a file: a test that is run after each edit is not a repetition. */
  forget(): void {
    this.#last.clear();
  }
}

/** The result of a call, which says so when it has come to the same so often that asking again is of no use. */
export function withRepeats({ status, output }: EndingCall, times: number): string {
  if (status === "completed") {
    if (times < SAME) return output;
    return `${output}\n\n[Banyan: this same call has had this same result ${times} times in this turn. Asking again will not change it: go on with what you have, or do something else.]`;
  }
  if (times < FAILING) return output;
  return `${output}\n\n[Banyan: this same call has now failed ${times} times in this turn. Sent once more as it is, it will most likely fail again: change its arguments, do something else, or say what is in the way.]`;
}
