import { formatDuration, shortCount, subAgentsOf } from "@banyan/client/words";
import {
  type Call,
  type ConversationState,
  isEnded,
  type Message,
  newestLeaf,
  pathTo,
  totalTokens,
  usageOnPath,
} from "@banyan/core/conversation";
import { counted, formatCost } from "@banyan/core/shown";
import { callSummary } from "../../../show/call-line.ts";
import { excerptLine } from "../../../show/fit-text.ts";
import { plainLine } from "../../../show/plain-text.ts";

/** A sub-agent in the list of a conversation's sub-agents. */
export interface AgentRow {
  readonly number: number;
  readonly name: string | undefined;
  readonly title: string;
  readonly call: Call;
  readonly depth: number;
  /** The status: `running`, `asks you`, or how the sub-agent ended. */
  readonly status: string;
  /** The messages of the sub-agent's newest branch, from its task on. */
  readonly path: readonly Message[];
}

/** Lists the sub-agents of a conversation, in order of their start (T30). */
export function subAgents(state: ConversationState): AgentRow[] {
  return subAgentsOf(state).flatMap(({ number, name, task, call }) => {
    const [root] = state.children.get(call.id) ?? [];
    if (root === undefined) return [];
    const path = pathTo(state, newestLeaf(state, root));
    const title = plainLine(callSummary(call, 200)) || excerptLine(task, 200);
    const launched = { number, name: name === undefined ? undefined : plainLine(name), title, call };
    return [{ ...launched, depth: depthOf(state, call.id), status: agentStatus(state, call), path }];
  });
}

/** Describes the status and spending of a sub-agent in a few words. */
export function agentFacts({ call, status, path }: AgentRow, now: number): string {
  const { usage, cost } = usageOnPath(path);
  const calls = path.reduce((sum, message) => sum + (message.role === "assistant" ? message.calls.length : 0), 0);
  const elapsed = call.startedAt === undefined ? "" : formatDuration((call.endedAt ?? now) - call.startedAt);
  const tokens = totalTokens(usage) > 0 ? `${shortCount(totalTokens(usage))} tokens` : "";
  const price = cost === undefined || cost === 0 ? "" : formatCost(cost);
  return [status, elapsed, counted(calls, "call"), tokens, price].filter((text) => text !== "").join(", ");
}

function agentStatus(state: ConversationState, { id, status }: Call): string {
  if (isEnded(status)) return status === "completed" ? "done" : status;
  const asks = [...state.questions.values()].some(({ message }) => state.messages.get(message ?? "")?.call === id);
  return asks ? "asks you" : "running";
}

function depthOf(state: ConversationState, launching: string): number {
  let depth = -1;
  for (let call: string | undefined = launching; call !== undefined; depth++) {
    const above: string | undefined = state.calls.get(call);
    call = above === undefined ? undefined : state.messages.get(above)?.call;
  }
  return depth;
}
