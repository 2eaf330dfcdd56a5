/** Lines of a file and their replacement. */
export interface Edit {
  /** The first line, from 1. */
  readonly start: number;
  /** The line after the last replaced line. */
  readonly end: number;
  readonly lines: readonly string[];
}

/** A file and its changes. */
export interface TaskFile {
  readonly path: string;
  /** Undefined for a new file. */
  readonly before: string | undefined;
  /** From top to bottom; a new file has one edit with all lines. */
  readonly edits: readonly Edit[];
  readonly wanted: string;
}

/** A task for a model. */
export interface Task {
  readonly kind: string;
  readonly name: string;
  readonly files: readonly TaskFile[];
}

/** The encoding of a file. */
export interface Form {
  /** Returns the end of a line by its number from 0. Default: LF. */
  readonly end?: (line: number) => string;
  readonly mark?: string;
  /** True: the last line has no line end. */
  readonly open?: boolean;
}

/** Returns a file with these lines and edits. A replaced line keeps its line end; new lines get that of the first line. */
export function fileOf(path: string, lines: readonly string[], edits: readonly Edit[], form: Form = {}): TaskFile {
  const { end = () => "\n", mark = "", open = false } = form;
  const all = lines.map((line, n) => line + end(n));
  const wanted = [...all];
  for (const edit of edits.toReversed()) {
    const fresh = edit.lines.map((line, n) => line + (edit.start + n < edit.end ? end(edit.start - 1 + n) : end(0)));
    wanted.splice(edit.start - 1, edit.end - edit.start, ...fresh);
  }
  const write = (written: readonly string[]) => {
    const text = mark + written.join("");
    return open ? text.replace(/\r?\n$/, "") : text;
  };
  return { path, before: write(all), edits, wanted: write(wanted) };
}

/** Returns a file that does not exist yet. */
export function newFile(path: string, lines: readonly string[]): TaskFile {
  const wanted = lines.map((line) => `${line}\n`).join("");
  return { path, before: undefined, edits: [{ start: 1, end: 1, lines }], wanted };
}

/** Returns edits for all lines that `change` modifies. */
export function eachLine(lines: readonly string[], change: (line: string) => string | undefined): Edit[] {
  return lines.flatMap((line, n) => {
    const fresh = change(line);
    if (fresh === line) return [];
    return [{ start: n + 1, end: n + 2, lines: fresh === undefined ? [] : [fresh] }];
  });
}
