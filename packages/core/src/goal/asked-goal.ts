import type { AskedGoal, LiveGoal } from "../conversation/event.ts";
import type { Message } from "../conversation/message.ts";
import type { ConversationState } from "../conversation/state.ts";
import { pathTo } from "../conversation/tree/path.ts";
import type { Goal } from "../ports/goal.ts";

/**
 * Returns the goal of a run that begins at `leaf`. A run that continues an unreached goal keeps the id of the goal.
 * `again`: the run answers the message `leaf` again.
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
  const { broken, waiting } = state;
  const left = again ? brokenGoalBelow(state, leaf) : broken.get(leaf ?? "")?.goal;
  const before = waiting.get(continues ?? "")?.goal ?? left;
  const words = checks.map(({ what }) => what);
  const isSame = before !== undefined && JSON.stringify(before.checks) === JSON.stringify(words);
  return { id: isSame ? before.id : id, checks: words, ...(asked !== undefined && { asked }) };
}

/**
 * Returns the goal of the last turn that broke off at a message or below; nothing without a goal.
 * @example const goal = brokenGoalBelow(session.state, session.state.leaf);
 */
export function brokenGoalBelow(state: ConversationState, message: string | null): LiveGoal | undefined {
  const isBelow = (leaf: string) => pathTo(state, leaf).some(({ id }) => id === message);
  return [...state.broken].findLast(([leaf]) => isBelow(leaf))?.[1].goal;
}

/** True for a complete answer without calls, which ends a turn of a chat. */
export function isAnswer(message: Message | undefined): boolean {
  return message?.role === "assistant" && message.finish === "stop" && message.calls.length === 0;
}
