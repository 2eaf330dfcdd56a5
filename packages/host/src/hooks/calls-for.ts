import { describeBrokenTurn } from "@banyan/client/words";
import type { ConversationState, FeedItem } from "@banyan/core";
import { endReason, toolIn } from "@banyan/core/conversation";
import { visibleLine } from "@banyan/core/shown";

/** Milliseconds of a turn after which the user may do other work. */
const LONG = 10_000;

/** A reason to notify the user, with a sentence. */
export interface AttentionReason {
  /** The reason, named as in hooks: an approval, a question, or the end of a turn. */
  readonly type: "permission_prompt" | "elicitation_dialog" | "idle_prompt";
  readonly sentence: string;
}

/**
 * Decides when to notify a user who is busy elsewhere (C2): when something waits for the user, when a turn fails, or
 * when a long turn ends. Needs all items of a conversation's feed, in order.
 */
export class CallsFor {
  /** Start times of turns of the main agent. */
  readonly #begun = new Map<string, number>();

  /** Returns the reason to notify, if any. */
  hear(item: FeedItem, state: ConversationState): AttentionReason | undefined {
    switch (item.type) {
      case "call.approval-requested": {
        const tool = toolIn(state, item) || "a tool";
        return { type: "permission_prompt", sentence: `The agent asks to run ${visibleLine(tool)}.` };
      }
      case "question.asked":
        return { type: "elicitation_dialog", sentence: `The agent asks: ${visibleLine(item.text)}` };
      case "run.paused":
        return { type: "permission_prompt", sentence: "The agent has reached a limit and asks whether to continue." };
      case "run.started":
        if (item.call === undefined) this.#begun.set(item.run, item.at);
        return undefined;
      case "run.ended": {
        const begun = this.#begun.get(item.run);
        this.#begun.delete(item.run);
        const sentence = begun === undefined ? undefined : endSentence(item, item.at - begun);
        return sentence === undefined ? undefined : { type: "idle_prompt", sentence };
      }
      default:
        return undefined;
    }
  }
}

/** `took`: milliseconds. */
function endSentence(end: Extract<FeedItem, { type: "run.ended" }>, took: number): string | undefined {
  switch (end.reason) {
    case "failed":
      return `The agent failed: ${visibleLine(describeBrokenTurn({ ...end.error, reason: "failed" }).why)}`;
    case "limit":
      return `The agent has stopped: ${visibleLine(endReason(end) ?? "it reached a limit")}`;
    case "interrupted":
    case "waiting":
      return undefined;
    case "answered":
    case "finished":
      return took >= LONG ? "The agent has finished." : undefined;
  }
}
