import type { Cursor, Delta } from "./feed-item.ts";

/**
 * Merges two neighbouring deltas of the same text. Returns nothing if they cannot be merged without loss.
 * @example
 * let last: Delta | undefined;
 * for await (const item of agent.chat(say("Hello")))
 *   if (isDelta(item)) last = (last && mergeDeltas(last, item)) ?? item;
 */
export function mergeDeltas(first: Delta, second: Delta): Delta | undefined {
  return areNeighbours(first, second) ? joinDeltas(first, second, first.text + second.text) : undefined;
}

export function mergeAll(deltas: readonly Delta[]): Delta[] {
  const merged: Delta[] = [];
  for (let from = 0, to = 0; from < deltas.length; from = to) {
    let last = deltas[from] as Delta;
    const texts = [last.text];
    for (to = from + 1; to < deltas.length && areNeighbours(last, deltas[to] as Delta); to++) {
      last = deltas[to] as Delta;
      texts.push(last.text);
    }
    merged.push(texts.length === 1 ? last : joinDeltas(deltas[from] as Delta, last, texts.join("")));
  }
  return merged;
}

function areNeighbours(first: Delta, second: Delta): boolean {
  if (first.offset + second.text.length !== second.offset) return false;
  if (first.type !== second.type || first.message !== second.message || first.seq !== second.seq) return false;
  if ("part" in first && "part" in second && first.part !== second.part) return false;
  if ("call" in first && "call" in second && first.call !== second.call) return false;
  if ("problems" in first || "problems" in second) return false;
  return !("draft" in first && "draft" in second && first.draft !== second.draft);
}

function joinDeltas(first: Delta, last: Delta, text: string): Delta {
  return first.begins === undefined ? { ...last, text } : { ...last, text, begins: first.begins };
}

export function afterCursor(delta: Delta, cursor: Cursor): Delta | undefined {
  if (delta.seq !== cursor.seq) return delta.seq > cursor.seq ? delta : undefined;
  const unseen = delta.offset - cursor.offset;
  if (unseen <= 0) return undefined;
  const seen = delta.text.length - unseen;
  if (seen <= 0) return delta;
  const begins = delta.begins === undefined ? {} : { begins: delta.begins + seen };
  return { ...delta, text: delta.text.slice(seen), ...begins };
}
