import type { AskedGoal } from "../conversation/event.ts";
import type { Message } from "../conversation/message.ts";
import type { ConversationState } from "../conversation/state.ts";
import type { Goal } from "../ports/goal.ts";

/**
 * Returns the goal of a run that begins at `leaf`. A run that continues an unreached goal keeps the id of the goal. A
 * reached goal begins anew. `again`: the run answers the message `leaf` again.
 */
export function goalOfRun(
  state: ConversationState,
  { checks, asked }: Goal,
  {
    id,
    leaf,
    continues,
    again,
  }: {
    readonly id: string;
    readonly leaf: string | null;
    readonly continues: string | undefined;
    readonly again: boolean;
  },
): AskedGoal {
  const { broken, waiting, goals } = state;
  const last = broken.get(leaf ?? "");
  const left = again ? goalOfMessage(state, leaf) : last?.goal;
  const before = waiting.get(continues ?? "")?.goal ?? left;
  const words = checks.map(({ what }) => what);
  // The process of a run may have stopped after the checks passed, and before the run ended.
  const isOpen = before !== undefined && [undefined, last?.run].includes(goals.get(before.id)?.reachedBy);
  const isSame = isOpen && JSON.stringify(before.checks) === JSON.stringify(words);
  return { id: isSame ? before.id : id, checks: words, ...(asked !== undefined && { asked }) };
}

/**
 * Returns the goal of the last turn with a goal that answered a message; nothing without a goal.
 * @example const goal = goalOfMessage(session.state, session.state.leaf);
 */
export function goalOfMessage({ goals }: ConversationState, message: string | null): AskedGoal | undefined {
  return [...goals.values()].findLast(({ from }) => from.includes(message))?.asked;
}

/** True for a complete answer without calls, which ends a turn of a chat. */
export function isAnswer(message: Message | undefined): boolean {
  return message?.role === "assistant" && message.finish === "stop" && message.calls.length === 0;
}
