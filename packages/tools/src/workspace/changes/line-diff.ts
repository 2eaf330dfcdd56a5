import { type StructuredPatchHunk, structuredPatch } from "diff";
import { countLines } from "../files/text-content.ts";

/** Maximum number of added and removed lines of a diff. The search for the shortest diff takes quadratic time. */
export const MOST_CHANGES = 1000;

const CONTEXT = 3;

/** The line differences of two texts, without regard to line ends. */
export interface LineDiff {
  /** Hunks with three lines of context. If the search for differences was stopped, one hunk replaces all lines. */
  readonly hunks: readonly StructuredPatchHunk[];
  /** True if the texts differ in more than `MOST_CHANGES` lines. */
  readonly isGivenUp: boolean;
  readonly added: number;
  readonly removed: number;
}

/**
 * Compares two texts by lines. Equal beginnings and ends cost little, so the comparison is cheap for a small change in
 * a large file.
 */
export function lineDiff(before: string, after: string): LineDiff {
  const head = commonHead(before, after);
  const tail = commonTail(before, after, head);
  const skipped = countLines(before.slice(0, head));
  const old = before.slice(head, before.length - tail);
  const now = after.slice(head, after.length - tail);
  const patch = structuredPatch("", "", old, now, undefined, undefined, {
    context: CONTEXT,
    maxEditLength: MOST_CHANGES,
    stripTrailingCr: true,
  });
  const hunks = (patch?.hunks ?? [rewrite(old, now)]).map((hunk) => {
    return { ...hunk, oldStart: hunk.oldStart + skipped, newStart: hunk.newStart + skipped };
  });
  const count = (sign: string) => hunks.reduce((sum, { lines }) => sum + lines.filter((l) => l[0] === sign).length, 0);
  return { hunks, isGivenUp: patch === undefined, added: count("+"), removed: count("-") };
}

/** Returns the length of the common beginning in whole lines, without three lines of context. */
function commonHead(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let same = 0;
  while (same < most && one.charCodeAt(same) === other.charCodeAt(same)) same += 1;
  let head = lineStartBefore(one, same);
  for (let line = 0; line < CONTEXT && head > 0; line += 1) head = lineStartBefore(one, head - 1);
  return head;
}

function commonTail(one: string, other: string, head: number): number {
  const most = Math.min(one.length, other.length) - head;
  let same = 0;
  while (same < most && one.charCodeAt(one.length - 1 - same) === other.charCodeAt(other.length - 1 - same)) same += 1;
  let from = one.length - same;
  for (let line = 0; line <= CONTEXT; line += 1) {
    const end = one.indexOf("\n", from);
    if (end < 0) return 0;
    from = end + 1;
  }
  return one.length - from;
}

function lineStartBefore(text: string, place: number): number {
  return place <= 0 ? 0 : text.lastIndexOf("\n", place - 1) + 1;
}

function rewrite(before: string, after: string): StructuredPatchHunk {
  const [old, now] = [splitAtLineEnds(before), splitAtLineEnds(after)];
  const lines = [...old.map((line) => `-${line}`), ...now.map((line) => `+${line}`)];
  return { oldStart: 1, oldLines: old.length, newStart: 1, newLines: now.length, lines };
}

function splitAtLineEnds(text: string): string[] {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
