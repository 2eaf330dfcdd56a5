import { type ConversationState, type FeedItem, leaves, type Message, pathTo } from "@banyan/core";
import { totalTokens } from "@banyan/core/conversation";
import type { Host } from "@banyan/host";
import type { Status } from "../terminal/full/views/status-line.ts";
import { approvalWords } from "./approval-mode.ts";

/** Items after which it is another. */
const CHANGES: ReadonlySet<string> = new Set(["run.started", "message.completed", "run.ended", "model.changed"]);

/** Whether the status is another after something that happened. */
export function changesStatus({ type }: FeedItem): boolean {
  return CHANGES.has(type);
}

/** What stands below the prompt while a person is at a message of a conversation (T26). */
export function statusOf(host: Host, state: ConversationState, leaf: string | null, mode: "chat" | "task"): Status {
  const path = pathTo(state, leaf);
  const context = fullness(host, path);
  const [run] = [...state.runs.values()].filter(({ call }) => call === undefined);
  return {
    mode: run?.mode ?? mode,
    approval: approvalWords(host.approvalIn(state.id)),
    model: host.model.name,
    tokens: totalTokens(state.usage),
    cost: state.cost,
    ...branchOf(state, leaf),
    ...(context !== undefined && { context }),
  };
}

/** Which of the branches ends at a message; nothing where none does. */
export function branchOf(state: ConversationState, leaf: string | null): Pick<Status, "branch"> {
  const ends = leaves(state);
  const number = leaf === null ? 0 : ends.indexOf(leaf) + 1;
  return number > 0 ? { branch: { number, count: ends.length } } : {};
}

/** How much of the model's context the last answer took; nothing when that is not known. */
function fullness({ agent }: Host, path: ReturnType<typeof pathTo>): number | undefined {
  const { model } = agent.options;
  const size = "contextSize" in model ? model.contextSize : undefined;
  // Of an answer that was interrupted, the provider did not say it.
  const counted = path.findLast((message) => tokensOf(message) > 0);
  return size === undefined || !counted ? undefined : Math.min(1, tokensOf(counted) / size);
}

function tokensOf(message: Message): number {
  return message.role === "assistant" && message.usage ? totalTokens(message.usage) : 0;
}
