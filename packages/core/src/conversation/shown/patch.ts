/** A line of a difference of a file: in the new text, in the old one, in both, or a note of where the next lines stand. */
export interface DiffLine {
  readonly kind: "added" | "removed" | "same" | "place";
  readonly text: string;
  /** Its number in the old text, from 1. */
  readonly before?: number;
  /** Its number in the new text, from 1. */
  readonly after?: number;
}

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
