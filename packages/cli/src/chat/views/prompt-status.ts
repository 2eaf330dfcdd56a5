import { type ConversationState, type FeedItem, leaves, type Message, pathTo } from "@banyan/core";
import { callIn, type LiveRun, totalTokens, worktreeAt } from "@banyan/core/conversation";
import { planOnPath } from "@banyan/core/shown";
import { type ApprovalMode, projectOf } from "@banyan/host";
import manifest from "../../../package.json" with { type: "json" };
import { runningProcesses, runsBeside } from "../../show/sub-agents.ts";
import type { Status } from "../../terminal/full/views/status-line.ts";
import { approvalWords } from "./approval-mode.ts";

const CHANGES: ReadonlySet<string> = new Set([
  "run.started",
  "message.completed",
  "run.ended",
  "model.changed",
  "process.started",
  "process.ended",
]);

export function changesStatus(item: FeedItem, state: ConversationState): boolean {
  if (item.type === "call.completed") return callIn(state, item)?.about?.plan !== undefined;
  return CHANGES.has(item.type);
}

export interface StatusFacts {
  readonly run: string | undefined;
  readonly live: readonly LiveRun[];
  readonly leaf: string | null;
  readonly mode: "chat" | "task";
  readonly approval: ApprovalMode;
  readonly model: string;
  /** Context size of the model in tokens, if known. */
  readonly contextSize: number | undefined;
  /** The folder of the branch. If the branch is on another machine: the folder of the terminal. */
  readonly directory: string;
  readonly git: string | undefined;
  readonly own: string | undefined;
}

/** Returns the facts that the status line shows for the user's place in the conversation (T26). */
export function promptStatus(
  state: ConversationState,
  { run, live, leaf, mode, approval, model, contextSize, git, own }: StatusFacts,
): Status {
  const path = pathTo(state, leaf);
  const worktree = worktreeAt(state, leaf);
  const [context, plan] = [fullness(contextSize, path), planOnPath(path)];
  return {
    mode: state.runs.get(run ?? "")?.mode ?? mode,
    approval: approvalWords(approval),
    model,
    git,
    worktree,
    own,
    tokens: totalTokens(state.usage),
    cost: state.cost,
    processes: runningProcesses(state).length,
    beside: runsBeside(live, run).length,
    ...branchStatus(state, leaf),
    ...(context !== undefined && { context }),
    ...(plan && { plan }),
  };
}

/**
 * Returns the JSON for the user's status line command, with Claude Code's names for shared facts. Unknown facts are
 * null.
 */
export function statusFacts(state: ConversationState, standing: StatusFacts): object {
  const { mode, processes, branch, context } = promptStatus(state, standing);
  const { approval, model, contextSize, git, directory } = standing;
  const used = context === undefined ? null : Math.round(context * 100);
  return {
    hook_event_name: "Status",
    // There is no conversation before the first message.
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
    mode,
    approval,
    processes,
    branch: branch ?? null,
    git_branch: git ?? null,
  };
}

/** Returns the number of the branch that ends at a message, if a branch ends there. */
export function branchStatus(state: ConversationState, leaf: string | null): Pick<Status, "branch"> {
  const ends = leaves(state);
  const number = leaf === null ? 0 : ends.indexOf(leaf) + 1;
  return number > 0 ? { branch: { number, count: ends.length } } : {};
}

/** Share of the context that the last answer, or the request after a summary, fills; undefined if unknown. */
function fullness(size: number | undefined, path: readonly Message[]): number | undefined {
  const tokens = contextTokens(path);
  return size === undefined || tokens === undefined ? undefined : Math.min(1, tokens / size);
}

/**
 * Returns the tokens of the last answer and its request. After a summary, returns the tokens of the next request, if
 * counted.
 */
export function contextTokens(path: readonly Message[]): number | undefined {
  // An interrupted answer has no token count.
  const counted = path.findLast((message) => messageTokens(message) > 0);
  return counted && messageTokens(counted);
}

function messageTokens(message: Message): number {
  if (message.role === "summary") return message.compaction?.after ?? 0;
  return message.role === "assistant" && message.usage ? totalTokens(message.usage) : 0;
}
