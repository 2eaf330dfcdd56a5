import type { Call, CallStatus } from "../message.ts";

/** How users are told that a call stands. `not-run`: the call came to nothing before its tool did anything. */
export type ShownStatus = CallStatus | "not-run";

/** How the engine begins the result of a call that it did not carry out. */
const NOT_EXECUTED = "Not executed: ";

/** Returns how users are told that a call stands: a call that did not run is never told as one that ran and failed (S36). */
export function shownStatus({ status, startedAt, output = "" }: Call): ShownStatus {
  const isNotRun = status === "failed" && (startedAt === undefined || output.startsWith(NOT_EXECUTED));
  return isNotRun ? "not-run" : status;
}
