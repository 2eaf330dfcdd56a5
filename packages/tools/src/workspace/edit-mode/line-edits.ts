import { linesInWords } from "../files/text-content.ts";

/** A replacement of lines. */
export interface LineEdit {
  /** The name in errors: `block 2 (ts:10:14)`. */
  readonly name: string;
  /** The first replaced line, from 1. */
  readonly start: number;
  /** The line after the last replaced line; equal to `start` for an insertion. */
  readonly end: number;
  /** The new lines, each ending with LF; empty to delete. */
  readonly text: string;
}

/** The edited text, or a sentence for each invalid edit. */
export type LineEditResult =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * Applies all line edits or none. The line numbers of each edit are those of `text`, whatever the other edits change.
 * Other lines stay unchanged, byte for byte. The n-th new line gets the line end of the n-th replaced line, and further
 * new lines that of the line before, so that a file keeps even mixed line ends. The last line has a line end only if it
 * had one before. The first line of an empty text gets a line end.
 */
export function applyLineEdits(text: string, edits: readonly LineEdit[]): LineEditResult {
  const isEnded = text === "" || text.endsWith("\n");
  const lastEnd = isEnded ? "" : endBefore(text, text.length);
  const source = text + lastEnd;
  const starts = lineStarts(source);
  const ordered = edits.toSorted((one, other) => one.start - other.start || one.end - other.end);
  const problems = [...rangeProblems(edits, starts.length - 1), ...overlaps(ordered, edits)];
  if (problems.length > 0) return { ok: false, problems };

  const pieces: string[] = [];
  let done = 0;
  for (const edit of ordered) {
    const from = lineOffset(starts, edit.start);
    pieces.push(source.slice(done, from), withLineEnds(edit, source, starts));
    done = lineOffset(starts, edit.end);
  }
  const edited = pieces.join("") + source.slice(done);
  if (isEnded) return { ok: true, text: edited };
  return { ok: true, text: done < source.length ? edited.slice(0, -lastEnd.length) : edited.replace(/\r?\n$/, "") };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

function lineOffset(starts: readonly number[], line: number): number {
  return starts[line - 1] as number;
}

function withLineEnds(edit: LineEdit, source: string, starts: readonly number[]): string {
  const lines = edit.text.split("\n");
  lines.pop();
  let end = endBefore(source, lineOffset(starts, edit.start));
  return lines
    .map((line, index) => {
      const replaced = edit.start + index;
      if (replaced < edit.end) end = endBefore(source, lineOffset(starts, replaced + 1));
      return line.endsWith("\r") ? line.slice(0, -1) + end : line + end;
    })
    .join("");
}

/** Returns the line end before a place. At the start of a text: the first line's end, or LF if there is none. */
function endBefore(text: string, place: number): string {
  const before = place === 0 ? text.indexOf("\n") : text.lastIndexOf("\n", place - 1);
  return before > 0 && text[before - 1] === "\r" ? "\r\n" : "\n";
}

function rangeProblems(edits: readonly LineEdit[], lines: number): string[] {
  return edits.flatMap(({ name, start, end }) => {
    if (start < 1) return [`${name} begins at line ${start}, but lines are counted from 1`];
    if (end < start) return [`${name} ends before it begins`];
    if (start > lines + 1 || end > lines + 1)
      return [`${name} reaches beyond the end: the file has ${linesInWords(lines)}, so END is at most ${lines + 1}`];
    return [];
  });
}

/** Reports overlapping edits. An insertion overlaps lines around it, but not lines that begin or end there. */
function overlaps(ordered: readonly LineEdit[], edits: readonly LineEdit[]): string[] {
  const problems: string[] = [];
  let reaching: LineEdit | undefined;
  for (const edit of ordered) {
    if (reaching !== undefined && edit.start < reaching.end) {
      const [first, second] = edits.indexOf(reaching) < edits.indexOf(edit) ? [reaching, edit] : [edit, reaching];
      problems.push(`${second.name} overlaps ${first.name}`);
    }
    if (reaching === undefined || edit.end > reaching.end) reaching = edit;
  }
  return problems;
}
