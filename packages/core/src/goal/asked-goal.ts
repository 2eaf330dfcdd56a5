import type { AskedGoal } from "../conversation/event.ts";
import type { Message } from "../conversation/message.ts";
import type { ConversationState } from "../conversation/state.ts";
import type { Goal } from "../ports/goal.ts";

/** Returns the goal of a run that begins at `leaf`. A run that continues an unreached goal keeps the id of the goal. */
export function goalOfRun(
  { broken, waiting }: Pick<ConversationState, "broken" | "waiting">,
  { checks, asked }: Goal,
  {
    id,
    leaf,
    continues,
  }: { readonly id: string; readonly leaf: string | null; readonly continues: string | undefined },
): AskedGoal {
  const before = waiting.get(continues ?? "")?.goal ?? broken.get(leaf ?? "")?.goal;
  const words = checks.map(({ what }) => what);
  const isSame = before !== undefined && JSON.stringify(before.checks) === JSON.stringify(words);
  return { id: isSame ? before.id : id, checks: words, ...(asked !== undefined && { asked }) };
}

/** True for a complete answer without calls, which ends a turn of a chat. */
export function isAnswer(message: Message | undefined): boolean {
  return message?.role === "assistant" && message.finish === "stop" && message.calls.length === 0;
}
