/** A line of a difference: in the new text, in the old one, in both, or a note of where the next lines stand. */
export interface DiffLine {
  readonly kind: "added" | "removed" | "same" | "place";
  readonly text: string;
  /** Its number in the old text, from 1. */
  readonly before?: number;
  /** Its number in the new text, from 1. */
  readonly after?: number;
}

/** What stands before a line in words that need no colour. */
export const SIGNS = { added: "+", removed: "-", same: " ", place: "" } as const;

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

/**
 * The lines of a unified diff of one file. It reads what is there: a diff that was cut in the middle of a hunk, as a large
 * one is, gives the lines that came.
 */
export function readPatch(diff: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let before = 0;
  let after = 0;
  let isInside = false;
  for (const line of diff.split("\n")) {
    const hunk = HUNK.exec(line);
    if (hunk) {
      before = Number(hunk[1]);
      after = Number(hunk[2]);
      isInside = true;
      lines.push({ kind: "place", text: line });
    } else if (!isInside) {
      // The names of the files, or words in place of a diff.
      if (line !== "" && !line.startsWith("--- ") && !line.startsWith("+++ "))
        lines.push({ kind: "place", text: line });
    } else if (line.startsWith("+")) lines.push({ kind: "added", text: line.slice(1), after: after++ });
    else if (line.startsWith("-")) lines.push({ kind: "removed", text: line.slice(1), before: before++ });
    else if (line.startsWith(" ")) lines.push({ kind: "same", text: line.slice(1), before: before++, after: after++ });
  }
  return lines;
}

/** Text that is to come into a file, as lines that are added from line `start` on. */
export function addedLines(text: string, start = 1): DiffLine[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line, index) => ({ kind: "added", text: line, after: start + index }));
}

/** A row of a diff in two columns: the old line and the new one that stands in its place. */
export interface LinePair {
  readonly left?: DiffLine;
  readonly right?: DiffLine;
}

/** Puts the lines that were removed beside those that came in their place. */
export function inPairs(lines: readonly DiffLine[]): LinePair[] {
  const pairs: LinePair[] = [];
  for (let at = 0; at < lines.length; ) {
    const removed = runOf(lines, at, "removed");
    const added = runOf(lines, at + removed, "added");
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

/** How many lines of one kind stand one after the other from `at` on. */
function runOf(lines: readonly DiffLine[], at: number, kind: DiffLine["kind"]): number {
  let end = at;
  while (lines[end]?.kind === kind) end++;
  return end - at;
}
