import { type ConversationState, type FeedItem, leaves, type Message, pathTo } from "@banyan/core";
import { callIn, totalTokens } from "@banyan/core/conversation";
import { planOn } from "@banyan/core/shown";
import type { ApprovalMode } from "@banyan/host";
import { runningProcesses } from "../show/sub-agents.ts";
import type { Status } from "../terminal/full/views/status-line.ts";
import { approvalWords } from "./approval-mode.ts";

/** Items after which it is another. */
const CHANGES: ReadonlySet<string> = new Set([
  "run.started",
  "message.completed",
  "run.ended",
  "model.changed",
  "process.started",
  "process.ended",
]);

/** Whether the status is another after something that happened. */
export function changesStatus(item: FeedItem, state: ConversationState): boolean {
  if (item.type === "call.completed") return callIn(state, item)?.about?.plan !== undefined;
  return CHANGES.has(item.type);
}

/** Where a person stands in a conversation, and what works there. */
export interface Standing {
  /** The run that they see, if one is live. */
  readonly run: string | undefined;
  readonly leaf: string | null;
  /** How the turns to come are taken. */
  readonly mode: "chat" | "task";
  readonly approval: ApprovalMode;
  readonly model: string;
  /** Tokens that the model takes, if that is known. */
  readonly contextSize: number | undefined;
}

/** What stands around the prompt while a person is at a message of a conversation (T26). */
export function statusOf(
  state: ConversationState,
  { run, leaf, mode, approval, model, contextSize }: Standing,
): Status {
  const path = pathTo(state, leaf);
  const [context, plan] = [fullness(contextSize, path), planOn(path)];
  return {
    mode: state.runs.get(run ?? "")?.mode ?? mode,
    approval: approvalWords(approval),
    model,
    tokens: totalTokens(state.usage),
    cost: state.cost,
    processes: runningProcesses(state).length,
    ...branchOf(state, leaf),
    ...(context !== undefined && { context }),
    ...(plan && { plan }),
  };
}

/** Which of the branches ends at a message; nothing where none does. */
export function branchOf(state: ConversationState, leaf: string | null): Pick<Status, "branch"> {
  const ends = leaves(state);
  const number = leaf === null ? 0 : ends.indexOf(leaf) + 1;
  return number > 0 ? { branch: { number, count: ends.length } } : {};
}

/** How much of the model's context the last answer took; nothing when that is not known. */
function fullness(size: number | undefined, path: readonly Message[]): number | undefined {
  // Of an answer that was interrupted, the provider did not say it.
  const counted = path.findLast((message) => tokensOf(message) > 0);
  return size === undefined || !counted ? undefined : Math.min(1, tokensOf(counted) / size);
}

function tokensOf(message: Message): number {
  return message.role === "assistant" && message.usage ? totalTokens(message.usage) : 0;
}
