import { describeBrokenTurn, describeShortfall, shortfallOf } from "@banyan/client/words";
import { endReason, type Message } from "@banyan/core/conversation";
import { exitCodes } from "../program/exit.ts";
import { exitOfModelError } from "../program/problem.ts";
import type { TurnEnd } from "../show/turn-end.ts";
import type { PrintResult } from "./report.ts";

type TurnVerdict = Pick<PrintResult, "reason" | "exitCode" | "error">;

/**
 * Returns the result and exit code of a turn (T35). The exit code is 0 only if no call was denied and the answer is
 * complete. `answer`: the last response of a turn that is not a task.
 */
export function verdictOf(end: TurnEnd | undefined, denied: PrintResult["denied"], answer?: Message): TurnVerdict {
  switch (end?.reason) {
    case undefined:
    case "interrupted":
    case "waiting":
      return {
        reason: "interrupted",
        exitCode: exitCodes.interrupted,
        error: { code: "interrupted", message: "The turn was interrupted." },
      };
    case "failed": {
      const { code = "defect" } = end.error ?? {};
      const { why } = describeBrokenTurn({ ...end.error, reason: "failed" });
      return { reason: "failed", exitCode: exitOfModelError(code), error: { code, message: why } };
    }
    case "limit":
      return {
        reason: "limit",
        exitCode: exitCodes.limit,
        error: { code: "limit", message: describeBrokenTurn({ reason: "limit", message: endReason(end) }).why },
      };
    case "answered":
    case "finished": {
      const [first] = denied;
      if (!first) return shortVerdict(end, answer) ?? { reason: end.reason, exitCode: exitCodes.done, error: null };
      const others = denied.length > 1 ? ` (and ${denied.length - 1} more)` : "";
      return {
        reason: "denied",
        exitCode: exitCodes.denied,
        error: { code: "denied", message: `A call of ${first.tool} was denied${others}: ${first.reason}` },
      };
    }
  }
}

/** The verdict on an incomplete, refused or empty answer. A task's result is in the call that ends it. */
function shortVerdict({ reason }: TurnEnd, answer: Message | undefined): TurnVerdict | undefined {
  const code = reason === "answered" ? shortfallOf(answer) : undefined;
  if (code === undefined) return undefined;
  const error = { code, message: describeShortfall(answer) ?? code };
  return code === "length"
    ? { reason: "limit", exitCode: exitCodes.limit, error }
    : { reason: "failed", exitCode: exitCodes.failed, error };
}
