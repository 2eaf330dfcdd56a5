import type { DiffLine } from "@banyan/client/words";

/** The signs of a diff's lines, so that a reader needs no colour. */
export const SIGNS = { added: "+", removed: "-", same: " ", place: "" } as const;

/** Returns the lines of a text that the model is writing, as added lines from line `start` on. */
export function addedLines(text: string, start = 1): DiffLine[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line, index) => ({ kind: "added", text: line, after: start + index }));
}

/** A row of a split diff: an old line and the new one that replaces it. */
export interface LinePair {
  readonly left?: DiffLine;
  readonly right?: DiffLine;
}

/** Pairs removed lines with the added lines that replace them. */
export function inPairs(lines: readonly DiffLine[]): LinePair[] {
  const pairs: LinePair[] = [];
  for (let at = 0; at < lines.length; ) {
    const removed = countSameKind(lines, at, "removed");
    const added = countSameKind(lines, at + removed, "added");
    if (removed + added === 0) {
      const line = lines[at] as DiffLine;
      pairs.push({ left: line, right: line });
      at++;
      continue;
    }
    for (let row = 0; row < Math.max(removed, added); row++) {
      const left = row < removed ? lines[at + row] : undefined;
      const right = row < added ? lines[at + removed + row] : undefined;
      pairs.push({ ...(left && { left }), ...(right && { right }) });
    }
    at += removed + added;
  }
  return pairs;
}

function countSameKind(lines: readonly DiffLine[], at: number, kind: DiffLine["kind"]): number {
  let end = at;
  while (lines[end]?.kind === kind) end++;
  return end - at;
}
