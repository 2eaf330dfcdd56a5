import type { CallStatus } from "@banyan/core/conversation";

/** A sign, a word and a colour for each status of a call: never colour alone (W28). */
export const CALL_STATUS: Readonly<Record<CallStatus, readonly [sign: string, word: string, colour: string]>> = {
  pending: ["○", "waiting", "text-soft"],
  "approval-requested": ["?", "waits for you", "text-warn"],
  executing: ["◐", "running", "text-leaf"],
  completed: ["✓", "done", "text-leaf"],
  failed: ["✗", "failed", "text-bad"],
  denied: ["⊘", "denied", "text-bad"],
  cancelled: ["–", "cancelled", "text-soft"],
};
