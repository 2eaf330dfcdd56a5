import type { Message } from "../message.ts";
import type { ConversationState, MutableState } from "../state.ts";

/**
 * Forgets the oldest messages on the path until `keep` are left, beginning with a user message; a last turn that is
 * longer than that stays whole. What hangs on a forgotten message goes too, and so do other roots. For conversations without end: the log still
 * has everything.
 */
export function forgetBefore(state: ConversationState, path: readonly Message[], keep: number): number {
  let first = Math.max(0, path.length - keep);
  while (first > 0 && first < path.length && path[first]?.role !== "user") first++;
  if (first === path.length) first = path.findLastIndex((message) => message.role === "user");
  if (first <= 0) return 0;
  const target = state as MutableState;
  const kept = path[first]?.id;
  const doomed = [...(target.children.get(null) ?? [])];
  for (let id = doomed.pop(); id !== undefined; id = doomed.pop()) {
    const message = target.messages.get(id);
    if (!message || id === kept) continue;
    for (const child of target.children.get(id) ?? []) doomed.push(child);
    target.children.delete(id);
    target.messages.delete(id);
    target.broken.delete(id);
    if (message.role !== "assistant") continue;
    for (const call of message.calls) {
      target.calls.delete(call.id);
      for (const launched of target.children.get(call.id) ?? []) doomed.push(launched);
      target.children.delete(call.id);
    }
  }
  if (target.leaf !== null && !target.messages.has(target.leaf)) target.leaf = path.at(-1)?.id ?? null;
  target.children.set(null, kept === undefined ? [] : [kept]);
  return first;
}
