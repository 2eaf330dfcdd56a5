import { formatPatch, OMIT_HEADERS, type StructuredPatchHunk } from "diff";
import { shownPath } from "../files/named-path.ts";
import { showControls } from "../files/plain-text.ts";
import { type LineDiff, MOST_CHANGES } from "./line-diff.ts";

const MOST_LINES = 300;
const MOST_CHARACTERS = 20_000;
const MOST_KEPT_BYTES = 64 * 1024;
/** Bytes of what a person is asked about, which is there to be read to its end. */
export const MOST_ASKED_BYTES = 1024 * 1024;

/**
 * What changed in a text file, as a unified diff for the model and the reader: at most some 300 lines, with a note of
 * how many more there are. A note stands in place of the diff when too many lines differ.
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

/** The same for programs: a valid diff of as many of the changed lines as fit into 64 KiB, or `most`, from the first on. */
export function boundedDiff(path: string, diff: LineDiff, most = MOST_KEPT_BYTES): string {
  const kept: StructuredPatchHunk[] = [];
  let bytes = Buffer.byteLength(format(path, []));
  for (const hunk of diff.hunks) {
    // The numbers of a hunk's own header line are counted as the longest that they can be.
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
  // `formatPatch` changes the line numbers of the hunks that it is given.
  const copies = hunks.map((hunk) => ({ ...hunk }));
  const lines = showControls(formatPatch({ ...patch, hunks: copies }, OMIT_HEADERS).replaceAll("\r\n", "\n"));
  return `--- ${name}\n+++ ${name}\n${hunks.length === 0 ? "" : lines}`;
}
