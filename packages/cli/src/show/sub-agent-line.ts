import type { ConversationState, FeedItem } from "@banyan/core/conversation";
import { toldItem } from "@banyan/core/shown";
import { callEnd, callHead, callIn } from "./call-line.ts";
import { oneLine } from "./plain-text.ts";
import type { Style } from "./style.ts";
import { subAgentLabel } from "./sub-agents.ts";

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
      const head = callHead(call, style, Math.max(40, columns - label.length - 2));
      return `${style.dim(`${oneLine(label)}:`)} ${head} … ${callEnd(call, style)}`;
    }
    default: {
      const told = subAgentTold(item, state);
      return told === undefined ? undefined : style.dim(told);
    }
  }
}

/** `agent 1: The provider is overloaded. ...`: what is told of a sub-agent's run beside what it does. */
export function subAgentTold(item: FeedItem, state: ConversationState): string | undefined {
  const told = toldItem(item);
  if (told === undefined) return undefined;
  const leaf = "run" in item && typeof item.run === "string" ? state.runs.get(item.run)?.leaf : undefined;
  return `${oneLine(subAgentLabel(state, leaf ?? "") ?? "a sub-agent")}: ${told}`;
}
