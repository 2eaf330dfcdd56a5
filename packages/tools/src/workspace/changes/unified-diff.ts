import { formatPatch, OMIT_HEADERS, type StructuredPatchHunk } from "diff";
import { shownPath } from "../files/named-path.ts";
import { showControls } from "../files/plain-text.ts";
import { type LineDiff, MOST_CHANGES } from "./line-diff.ts";

const MOST_LINES = 300;
const MOST_CHARACTERS = 20_000;
const MOST_KEPT_BYTES = 64 * 1024;
/** Maximum bytes of a diff in an approval request. */
export const MOST_ASKED_BYTES = 1024 * 1024;

/**
 * Returns a unified diff for the model and the user: at most some 300 lines, then a note with the number of further
 * lines. If too many lines differ, returns only a note.
 */
export function unifiedDiff(path: string, diff: LineDiff): string {
  if (diff.isGivenUp) return `[no diff: more than ${MOST_CHANGES} lines changed]`;
  const lines = format(path, diff.hunks).trimEnd().split("\n");
  const shown: string[] = [];
  let characters = 0;
  for (const line of lines) {
    characters += line.length + 1;
    if (shown.length === MOST_LINES || characters > MOST_CHARACTERS) {
      return `${shown.join("\n")}\n[... ${lines.length - shown.length} more lines of the diff]`;
    }
    shown.push(line);
  }
  return shown.join("\n");
}

/** Returns a valid diff for programs: the first changed lines that fit into 64 KiB, or into `most` bytes. */
export function boundedDiff(path: string, diff: LineDiff, most = MOST_KEPT_BYTES): string {
  const kept: StructuredPatchHunk[] = [];
  let bytes = Buffer.byteLength(format(path, []));
  for (const hunk of diff.hunks) {
    bytes += 80;
    const lines: string[] = [];
    for (const line of hunk.lines) {
      bytes += Buffer.byteLength(showControls(line)) + 1;
      if (bytes > most) break;
      lines.push(line);
    }
    if (lines.length > 0) kept.push(lines.length === hunk.lines.length ? hunk : shortened(hunk, lines));
    if (bytes > most) break;
  }
  return kept.length === 0 ? "" : format(path, kept);
}

function shortened(hunk: StructuredPatchHunk, lines: string[]): StructuredPatchHunk {
  const count = (sign: string) => lines.filter((line) => line[0] === " " || line[0] === sign).length;
  return { ...hunk, lines, oldLines: count("-"), newLines: count("+") };
}

function format(path: string, hunks: readonly StructuredPatchHunk[]): string {
  const name = shownPath(path);
  const patch = { oldFileName: "", newFileName: "", oldHeader: undefined, newHeader: undefined };
  // `formatPatch` changes the line numbers of its hunks, so pass copies.
  const copies = hunks.map((hunk) => ({ ...hunk }));
  const lines = showControls(formatPatch({ ...patch, hunks: copies }, OMIT_HEADERS).replaceAll("\r\n", "\n"));
  return `--- ${name}\n+++ ${name}\n${hunks.length === 0 ? "" : lines}`;
}
