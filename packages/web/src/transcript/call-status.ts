import { type DisplayedCallStatus, shownStatus } from "@banyan/client/words";
import type { Call } from "@banyan/core/conversation";
import { useMay } from "../parts/page/use-may.ts";
import { t } from "../parts/phrases/phrases.ts";

/** A sign, a word and a colour for each status of a call: never colour alone (W28). */
export type StatusLook = readonly [sign: string, word: string, colour: string];

const CALL_STATUS: Readonly<Record<DisplayedCallStatus, StatusLook>> = {
  pending: ["○", t("waiting"), "text-soft"],
  "approval-requested": ["?", t("waiting for you"), "text-warn"],
  executing: ["◐", t("running"), "text-leaf"],
  completed: ["✓", t("done"), "text-leaf"],
  failed: ["✗", t("failed"), "text-bad"],
  denied: ["⊘", t("denied"), "text-bad"],
  cancelled: ["–", t("cancelled"), "text-soft"],
  "not-run": ["⊘", t("not run"), "text-bad"],
};

/** The status of a call for this user: a guest sees that the call waits, but not for the guest. `asks`: it asks in words. */
export function useCallStatus(): (call: Call, asks?: boolean) => StatusLook {
  const may = useMay();
  return (call, asks = false) => {
    const status = asks ? "approval-requested" : shownStatus(call);
    const look = CALL_STATUS[status];
    return status === "approval-requested" && !may("question.answer")
      ? [look[0], t("waiting for an answer"), look[2]]
      : look;
  };
}
