import type { Json } from "../conversation/part.ts";
import { Recent } from "../past/recent.ts";
import { textDigest } from "../ports/runtime.ts";

/** Failures in a row after which the model is warned about a call (B67). */
const FAILING = 3;
/** Equal results in a row after which the model is warned about a call (C10). */
const SAME = 5;
/** Number of different calls that are remembered. */
const KNOWN = 200;
/** Calls longer than this many characters are kept as digests. */
const LONG = 1_000;

export interface EndingCall {
  readonly tool: string;
  readonly input?: Json | undefined;
  readonly status: "completed" | "failed" | "denied" | "cancelled";
  readonly output: string;
}

/** The last outcome of a call: its latest message, and how many steps in a row had this outcome. */
interface Last {
  readonly message: string;
  /** The output. Absent for a failed or denied call, since the wording of failures may differ. */
  readonly output: string | undefined;
  readonly times: number;
}

/** Keeps the last outcomes of a turn's calls to find repeated calls, until a call changes a file. */
export class Repeats {
  readonly #last = new Recent<Last>(KNOWN);

  /**
   * Returns how many times in a row this call had the same outcome. Calls of one message count once, because the model
   * asked for all of them before it saw a result.
   */
  count({ tool, input, status, output }: EndingCall, message: string): number {
    if (status === "cancelled") return 0;
    const written = `${tool} ${JSON.stringify(input)}`;
    const key = written.length > LONG ? textDigest(written) : written;
    const before = this.#last.get(key);
    const returned = status === "completed" ? output : undefined;
    const isSame = before?.output === returned;
    const times = before && isSame ? before.times + (before.message === message ? 0 : 1) : 1;
    this.#last.set(key, { message, output: returned, times });
    return times;
  }

  /** A test that runs after each edit is no repetition. */
  forget(): void {
    this.#last.clear();
  }
}

export function withRepeats({ status, output }: EndingCall, times: number): string {
  if (status === "completed") {
    if (times < SAME) return output;
    return `${output}\n\n[Banyan: this call has had the same result ${times} times in this turn. Another call will not change the result: continue with what you have, or do something else.]`;
  }
  if (times < FAILING) return output;
  return `${output}\n\n[Banyan: this call has now failed ${times} times in this turn. The same call will most likely fail again: change its arguments, do something else, or explain the problem.]`;
}
