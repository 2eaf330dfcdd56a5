import {
  type Call,
  type ConversationState,
  isEnded,
  type Message,
  newestLeaf,
  pathTo,
  spentOn,
  totalTokens,
} from "@banyan/core/conversation";
import { counted, formatCost, formatDuration } from "../../../show/amounts.ts";
import { callSummary } from "../../../show/call-line.ts";
import { oneLine } from "../../../show/plain-text.ts";
import type { PickerItem } from "./picker.ts";

/** A sub-agent, as its conversation tells it. */
export interface SubAgent {
  /** The call that launched it, which names it. */
  readonly call: Call;
  /** Sub-agents above it. */
  readonly depth: number;
  /** `running`, `asks you`, or how it ended. */
  readonly status: string;
  /** From its task on, its newest branch. */
  readonly path: readonly Message[];
}

/** The sub-agents of a conversation, in the order of their launch, each before its own (T30). */
export function subAgents(state: ConversationState): SubAgent[] {
  const agents: SubAgent[] = [];
  for (const message of state.messages.values()) {
    if (message.role !== "assistant") continue;
    for (const call of message.calls) {
      const [root] = state.children.get(call.id) ?? [];
      if (root === undefined) continue;
      const path = pathTo(state, newestLeaf(state, root));
      agents.push({ call, depth: depthOf(state, message), status: statusOf(state, call), path });
    }
  }
  return agents;
}

/** A sub-agent as a line of a list: its status, its task, what it took. */
export function agentItem({ call, depth, status, path }: SubAgent, now: number): PickerItem<string> {
  const { usage, cost } = spentOn(path);
  const calls = path.reduce((sum, message) => sum + (message.role === "assistant" ? message.calls.length : 0), 0);
  const elapsed = call.startedAt === undefined ? "" : formatDuration((call.endedAt ?? now) - call.startedAt);
  const tokens = totalTokens(usage) > 0 ? `${totalTokens(usage)} tokens, ${formatCost(cost)}` : "";
  return {
    value: call.id,
    label: `${"  ".repeat(depth)}${oneLine(callSummary(call, 200)) || oneLine(call.tool)}`,
    help: [status, elapsed, counted(calls, "call"), tokens].filter((text) => text !== "").join(", "),
  };
}

function statusOf(state: ConversationState, { id, status }: Call): string {
  if (isEnded(status)) return status === "completed" ? "done" : status;
  const asks = [...state.questions.values()].some(({ message }) => state.messages.get(message)?.call === id);
  return asks ? "asks you" : "running";
}

/** How many sub-agents are above a message. */
function depthOf(state: ConversationState, message: Message): number {
  let depth = 0;
  for (let { call } = message; call !== undefined; depth++) {
    const above: string | undefined = state.calls.get(call);
    call = above === undefined ? undefined : state.messages.get(above)?.call;
  }
  return depth;
}
