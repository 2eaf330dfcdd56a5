import type { Message } from "../message.ts";
import type { ConversationState, MutableState } from "../state.ts";
import { isSummary } from "./path.ts";

/**
 * Forgets the oldest messages on the path until `keep` are left, beginning with a user message; a last turn that is
 * longer than that stays whole. What hangs on a forgotten message goes too, and so do other roots. The newest summary and
 * the messages that it keeps word for word stay (F86): they are the beginning of the path that is returned. For conversations
 * without end: the log still has everything.
 */
export function forgetBefore(state: ConversationState, path: readonly Message[], keep: number): readonly Message[] {
  let first = Math.max(0, path.length - keep);
  while (first > 0 && first < path.length && path[first]?.role !== "user") first++;
  if (first === path.length) first = path.findLastIndex((message) => message.role === "user");
  const stays = first <= 0 ? [] : staying(path, first);
  if (first <= stays.length) return path;
  const target = state as MutableState;
  const known = new Set(stays.map(({ id }) => id));
  const doomed = [...(target.children.get(null) ?? [])];
  for (let id = doomed.pop(); id !== undefined; id = doomed.pop()) {
    const message = target.messages.get(id);
    if (!message || id === path[first]?.id) continue;
    for (const child of target.children.get(id) ?? []) doomed.push(child);
    target.children.delete(id);
    target.broken.delete(id);
    target.above.delete(id);
    if (!known.has(id)) target.messages.delete(id);
    if (message.role !== "assistant") continue;
    for (const call of message.calls) {
      target.calls.delete(call.id);
      for (const launched of target.children.get(call.id) ?? []) doomed.push(launched);
      target.children.delete(call.id);
    }
  }
  const left = [...stays, ...path.slice(first)];
  for (const [index, { id }] of left.slice(0, stays.length + 1).entries()) {
    const before = left[index - 1]?.id;
    if (before === undefined) continue;
    target.above.set(id, before);
    target.children.set(before, [id]);
  }
  if (target.leaf !== null && !target.messages.has(target.leaf)) target.leaf = path.at(-1)?.id ?? null;
  target.children.set(
    null,
    left.slice(0, 1).map(({ id }) => id),
  );
  return left;
}

/** Returns the newest summary before `first`, and the messages that the summary keeps word for word. */
function staying(path: readonly Message[], first: number): Message[] {
  const at = path.findLastIndex(isSummary);
  const summary = path[at];
  if (!isSummary(summary)) return [];
  const kept = new Set(summary.kept?.map(({ message }) => message));
  return path.slice(0, first).filter((message, index) => index === at || kept.has(message.id));
}
