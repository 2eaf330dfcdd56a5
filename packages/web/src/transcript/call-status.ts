import type { CallStatus } from "@banyan/core/conversation";
import { t } from "../phrases/phrases.ts";
import { useMay } from "../use-may.ts";

/** A sign, a word and a colour for each status of a call: never colour alone (W28). */
export type StatusLook = readonly [sign: string, word: string, colour: string];

const CALL_STATUS: Readonly<Record<CallStatus, StatusLook>> = {
  pending: ["○", t("waiting"), "text-soft"],
  "approval-requested": ["?", t("waits for you"), "text-warn"],
  executing: ["◐", t("running"), "text-leaf"],
  completed: ["✓", t("done"), "text-leaf"],
  failed: ["✗", t("failed"), "text-bad"],
  denied: ["⊘", t("denied"), "text-bad"],
  cancelled: ["–", t("cancelled"), "text-soft"],
};

/** How a call stands, as this person sees it: a guest is told that it waits, and not for them. */
export function useCallStatus(): (status: CallStatus) => StatusLook {
  const may = useMay();
  return (status) => {
    const look = CALL_STATUS[status];
    return status === "approval-requested" && !may("question.answer")
      ? [look[0], t("waits for an answer"), look[2]]
      : look;
  };
}
