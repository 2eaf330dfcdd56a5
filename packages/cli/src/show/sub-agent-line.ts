import type { ConversationState, FeedItem } from "@banyan/core";
import { callEnd, callHead } from "./call-line.ts";
import { callIn } from "./call-of.ts";
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
    default:
      return undefined;
  }
}
