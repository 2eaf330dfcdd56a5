import { itemSentence } from "@banyan/client/display";
import type { ConversationState, FeedItem } from "@banyan/core";
import { callIn, type LiveRun, type StayingProcess, subAgentLabel } from "@banyan/core/conversation";
import { callBegin, callEnd } from "./call-line.ts";
import { oneLine } from "./plain-text.ts";
import type { Style } from "./style.ts";

/** Tells the items of a feed that are a sub-agent's from those of the agent that the person talks with. */
export class SubAgentItems {
  readonly #runs = new Set<string>();

  /** Runs of sub-agents that have not ended. */
  get atWork(): number {
    return this.#runs.size;
  }

  /** What was at work is not any more. */
  forget(): void {
    this.#runs.clear();
  }

  /** Whether an item is a sub-agent's; each is to be asked about once, in order. The state has it already. */
  has(item: FeedItem, state: ConversationState): boolean {
    if (item.type === "run.started" && item.call !== undefined) this.#runs.add(item.run);
    if (item.type === "run.ended" && this.#runs.delete(item.run)) return true;
    if ("run" in item && typeof item.run === "string" && this.#runs.has(item.run)) return true;
    return "message" in item && state.messages.get(item.message)?.call !== undefined;
  }
}

/** `agent 1: • read  a.txt … done`: what a sub-agent has just done, on one line; nothing for what is not worth one. */
export function subAgentLine(
  item: FeedItem,
  state: ConversationState,
  style: Style,
  columns: number,
): string | undefined {
  switch (item.type) {
    case "call.completed":
    case "call.failed":
    case "call.denied":
    case "call.cancelled": {
      const call = callIn(state, item);
      const label = subAgentLabel(state, item.message);
      if (!call || label === undefined) return undefined;
      const begun = callBegin(call, style, Math.max(40, columns - label.length - 2));
      return `${style.dim(`${oneLine(label)}:`)} ${begun}${callEnd(call, style)}`;
    }
    default: {
      const told = subAgentTold(item, state);
      return told === undefined ? undefined : style.dim(told);
    }
  }
}

/** `agent 1: The provider is overloaded. ...`: what is told of a sub-agent's run beside what it does. */
export function subAgentTold(item: FeedItem, state: ConversationState): string | undefined {
  const told = itemSentence(item);
  if (told === undefined) return undefined;
  const leaf = "run" in item && typeof item.run === "string" ? state.runs.get(item.run)?.leaf : undefined;
  return `${oneLine(subAgentLabel(state, leaf ?? "") ?? "a sub-agent")}: ${told}`;
}

/** What calls began and what goes on beside the agent, in the background, the oldest first. */
export function runningProcesses({ processes }: Pick<ConversationState, "processes">): StayingProcess[] {
  return [...processes.values()].filter(({ outcome }) => outcome === undefined);
}

/** Of what the agent works on, the turns on other branches than that of `run`. */
export function runsBeside(live: readonly LiveRun[], run: string | undefined): LiveRun[] {
  return live.filter(({ id, call }) => call === undefined && id !== run);
}
