import type { CallStatus } from "@banyan/core/conversation";
import { useMay } from "../use-may.ts";

/** A sign, a word and a colour for each status of a call: never colour alone (W28). */
export type StatusLook = readonly [sign: string, word: string, colour: string];

const CALL_STATUS: Readonly<Record<CallStatus, StatusLook>> = {
  pending: ["○", "waiting", "text-soft"],
  "approval-requested": ["?", "waits for you", "text-warn"],
  executing: ["◐", "running", "text-leaf"],
  completed: ["✓", "done", "text-leaf"],
  failed: ["✗", "failed", "text-bad"],
  denied: ["⊘", "denied", "text-bad"],
  cancelled: ["–", "cancelled", "text-soft"],
};

/** How a call stands, as this person sees it: a guest is told that it waits, and not for them. */
export function useCallStatus(): (status: CallStatus) => StatusLook {
  const may = useMay();
  return (status) => {
    const look = CALL_STATUS[status];
    return status === "approval-requested" && !may("question.answer")
      ? [look[0], "waits for an answer", look[2]]
      : look;
  };
}
