import type { RunEnd } from "@banyan/core";
import { toldBreak } from "@banyan/core/conversation";
import { oneLine } from "./plain-text.ts";
import type { Style } from "./style.ts";

/** Says why a run ended, when it did not simply answer. `error`: what the model's service or the loop said. */
export function runEndSentence(reason: RunEnd, error: string | undefined, style: Style): string | undefined {
  switch (reason) {
    case "interrupted":
      return style.warning("Interrupted – you have control");
    case "failed":
      return `${style.bad("Failed:")} ${oneLine(error ?? toldBreak({ reason }).why)}`;
    case "limit":
      return `${style.warning(oneLine(error ?? toldBreak({ reason }).why))} Reply to go on.`;
    case "answered":
    case "finished":
      return undefined;
  }
}
