import type { Message } from "./message.ts";
import type { ConversationState, MutableState } from "./state.ts";

/**
 * Forgets the oldest messages on the path to `leaf` until `keep` are left, beginning with a user message; what hangs
 * on a forgotten message goes too. For conversations without end: the log still has everything.
 */
export function forgetBefore(state: ConversationState, path: readonly Message[], keep: number): number {
  let first = path.length - keep;
  while (first > 0 && first < path.length && path[first]?.role !== "user") first++;
  if (first <= 0 || first >= path.length) return 0;
  const target = state as MutableState;
  const kept = path[first]?.id;
  const doomed = [path[0]?.id ?? ""];
  for (let id = doomed.pop(); id !== undefined; id = doomed.pop()) {
    const message = target.messages.get(id);
    if (!message || id === kept) continue;
    for (const child of target.children.get(id) ?? []) doomed.push(child);
    target.children.delete(id);
    target.messages.delete(id);
    if (message.role === "assistant") for (const call of message.calls) target.calls.delete(call.id);
  }
  target.children.delete(null);
  target.children.set(null, kept === undefined ? [] : [kept]);
  return first;
}
