import { type ConversationState, type FeedItem, leaves, type Message, pathTo } from "@banyan/core";
import { callIn, type LiveRun, totalTokens } from "@banyan/core/conversation";
import { planOn } from "@banyan/core/shown";
import { type ApprovalMode, projectOf } from "@banyan/host";
import manifest from "../../../package.json" with { type: "json" };
import { runningProcesses, runsBeside } from "../../show/sub-agents.ts";
import type { Status } from "../../terminal/full/views/status-line.ts";
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
  /** What the agent works on now. */
  readonly live: readonly LiveRun[];
  readonly leaf: string | null;
  /** How the turns to come are taken. */
  readonly mode: "chat" | "task";
  readonly approval: ApprovalMode;
  readonly model: string;
  /** Tokens that the model takes, if that is known. */
  readonly contextSize: number | undefined;
  /** The branch of git where the person works. */
  readonly git: string | undefined;
  /** What their own status line says. */
  readonly own: string | undefined;
}

/** What stands around the prompt while a person is at a message of a conversation (T26). */
export function statusOf(
  state: ConversationState,
  { run, live, leaf, mode, approval, model, contextSize, git, own }: Standing,
): Status {
  const path = pathTo(state, leaf);
  const [context, plan] = [fullness(contextSize, path), planOn(path)];
  return {
    mode: state.runs.get(run ?? "")?.mode ?? mode,
    approval: approvalWords(approval),
    ...{ model, git, own },
    tokens: totalTokens(state.usage),
    cost: state.cost,
    processes: runningProcesses(state).length,
    beside: runsBeside(live, run).length,
    ...branchOf(state, leaf),
    ...(context !== undefined && { context }),
    ...(plan && { plan }),
  };
}

/**
 * The same for a command that makes a status line: by the names that Claude Code has for it, where that is the same, and
 * then what it does not have. What is not known is null.
 */
export function statusFacts(state: ConversationState, standing: Standing, directory: string): object {
  const { mode, processes, branch, context } = statusOf(state, standing);
  const { approval, model, contextSize, git } = standing;
  const used = context === undefined ? null : Math.round(context * 100);
  return {
    hook_event_name: "Status",
    // Before the first message there is no conversation.
    session_id: state.messages.size > 0 ? state.id : null,
    session_name: state.title ?? null,
    transcript_path: null,
    cwd: directory,
    version: manifest.version,
    model: { id: model, display_name: model.split("/").at(-1) },
    workspace: { current_dir: directory, project_dir: projectOf(directory).root },
    cost: { total_cost_usd: state.cost ?? null },
    context_window: {
      total_input_tokens: state.usage.input,
      total_output_tokens: state.usage.output,
      context_window_size: contextSize ?? null,
      used_percentage: used,
      remaining_percentage: used === null ? null : 100 - used,
    },
    ...{ mode, approval, processes, branch: branch ?? null, git_branch: git ?? null },
  };
}

/** Which of the branches ends at a message; nothing where none does. */
export function branchOf(state: ConversationState, leaf: string | null): Pick<Status, "branch"> {
  const ends = leaves(state);
  const number = leaf === null ? 0 : ends.indexOf(leaf) + 1;
  return number > 0 ? { branch: { number, count: ends.length } } : {};
}

/** How much of the model's context the last answer took, or the next request behind a summary takes; nothing when that is not known. */
function fullness(size: number | undefined, path: readonly Message[]): number | undefined {
  // Of an answer that was interrupted, the provider did not say it.
  const counted = path.findLast((message) => tokensOf(message) > 0);
  return size === undefined || !counted ? undefined : Math.min(1, tokensOf(counted) / size);
}

function tokensOf(message: Message): number {
  if (message.role === "summary") return message.compaction?.after ?? 0;
  return message.role === "assistant" && message.usage ? totalTokens(message.usage) : 0;
}
