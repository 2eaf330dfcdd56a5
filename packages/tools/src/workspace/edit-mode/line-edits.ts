import { linesInWords } from "../files/text-content.ts";

/** Lines of a text and what stands there instead. */
export interface LineEdit {
  /** What errors call it: `block 2 (ts:10:14)`. */
  readonly name: string;
  /** The first line, counted from 1. */
  readonly start: number;
  /** The first line behind them; the same as `start` to insert before it. */
  readonly end: number;
  /** The new lines, each ended by LF; empty takes the old ones away. */
  readonly text: string;
}

/** The text with all edits, or a sentence for each edit that does not fit. */
export type LineEdited =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * Puts lines in the place of others; all edits or none. Line numbers are those of `text`, whatever the other edits do.
 *
 * What no edit names stays as it is, byte for byte. The n-th new line ends as the n-th line that it replaces did;
 * further ones end like the line before them, so that a file keeps its line ends, mixed ones too. Whether the last line
 * of the text is ended stays as it was; the first line of an empty text gets an end.
 */
export function applyLineEdits(text: string, edits: readonly LineEdit[]): LineEdited {
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
    const from = startOf(starts, edit.start);
    pieces.push(source.slice(done, from), withLineEnds(edit, source, starts));
    done = startOf(starts, edit.end);
  }
  const edited = pieces.join("") + source.slice(done);
  if (isEnded) return { ok: true, text: edited };
  return { ok: true, text: done < source.length ? edited.slice(0, -lastEnd.length) : edited.replace(/\r?\n$/, "") };
}

/** Where each line of a text begins, and where the text ends. */
function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

function startOf(starts: readonly number[], line: number): number {
  return starts[line - 1] as number;
}

/** The new lines of an edit with their ends. */
function withLineEnds(edit: LineEdit, source: string, starts: readonly number[]): string {
  const lines = edit.text.split("\n");
  lines.pop();
  let end = endBefore(source, startOf(starts, edit.start));
  return lines
    .map((line, index) => {
      const replaced = edit.start + index;
      if (replaced < edit.end) end = endBefore(source, startOf(starts, replaced + 1));
      return line.endsWith("\r") ? line.slice(0, -1) + end : line + end;
    })
    .join("");
}

/** The line end before a place; at the start of a text the one of its first line, and LF where there is none. */
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

/** What is named twice. An insertion collides with lines around it, not with those that begin or end there. */
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
