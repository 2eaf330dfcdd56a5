import type { Message } from "../message.ts";
import type { ConversationState, MutableState } from "../state.ts";
import { isSummary } from "./path.ts";

/**
 * Forgets the oldest messages of the path until `keep` are left. The rest starts at a user message, and a longer last
 * turn stays whole. The newest summary, and the messages that it keeps, stay at the beginning of the path (F86).
 * Returns the remaining path as a new array, or nothing if no message was forgotten. `hasSummary` is false if the
 * caller knows that the path has no summary.
 */
export function forgetBefore(
  state: ConversationState,
  path: readonly Message[],
  keep: number,
  hasSummary = true,
): Message[] | undefined {
  let first = Math.max(0, path.length - keep);
  while (first > 0 && first < path.length && path[first]?.role !== "user") first++;
  if (first === path.length) first = path.findLastIndex((message) => message.role === "user");
  const stays = first <= 0 || !hasSummary ? NONE : staying(path, first);
  if (first <= stays.length) return undefined;
  const target = state as MutableState;
  const known = stays.length === 0 ? undefined : new Set(stays.map(({ id }) => id));
  const kept = path[first]?.id;
  const doomed = [...(target.children.get(null) ?? [])];
  for (let id = doomed.pop(); id !== undefined; id = doomed.pop()) {
    const message = target.messages.get(id);
    if (!message || id === kept) continue;
    for (const child of target.children.get(id) ?? []) doomed.push(child);
    target.children.delete(id);
    target.broken.delete(id);
    target.above.delete(id);
    if (!known?.has(id)) target.messages.delete(id);
    if (message.role !== "assistant") continue;
    for (const call of message.calls) {
      target.calls.delete(call.id);
      for (const launched of target.children.get(call.id) ?? []) doomed.push(launched);
      target.children.delete(call.id);
    }
  }
  for (const [id, { from }] of target.goals)
    if (!from.some((leaf) => target.messages.has(leaf ?? ""))) target.goals.delete(id);
  const left = stays.length === 0 ? path.slice(first) : [...stays, ...path.slice(first)];
  // Each remaining message becomes a child of the previous remaining message.
  for (let index = 1; index <= stays.length; index++) {
    const [above, below] = [left[index - 1] as Message, left[index] as Message];
    target.above.set(below.id, above.id);
    target.children.set(above.id, [below.id]);
  }
  if (target.leaf !== null && !target.messages.has(target.leaf)) target.leaf = path.at(-1)?.id ?? null;
  target.children.set(null, left[0] ? [left[0].id] : []);
  return left;
}

function staying(path: readonly Message[], first: number): readonly Message[] {
  const at = path.findLastIndex(isSummary);
  const summary = path[at];
  if (!isSummary(summary)) return NONE;
  const kept = new Set(summary.kept?.map(({ message }) => message));
  return path.slice(0, first).filter((message, index) => index === at || kept.has(message.id));
}

const NONE: readonly Message[] = [];
