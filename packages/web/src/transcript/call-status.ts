import { type DisplayedCallStatus, shownStatus } from "@banyan/client/words";
import type { Call } from "@banyan/core/conversation";
import { useMay } from "../parts/page/use-may.ts";
import { t } from "../parts/phrases/phrases.ts";

/** A sign, a word and a colour for the status of a call, so that a reader needs no colour (W28). */
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

/**
 * Returns a function for the status of a call as this user sees it: a guest sees that the call waits for another user.
 * `asks`: the call asks a question in words.
 */
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
