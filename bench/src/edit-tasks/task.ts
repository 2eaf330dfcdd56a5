/** Lines of a file and what is wanted instead of them. */
export interface Edit {
  /** The first line, counted from 1. */
  readonly start: number;
  /** The first line behind them. */
  readonly end: number;
  readonly lines: readonly string[];
}

/** A file as it is, and what is to be done with it. */
export interface TaskFile {
  readonly path: string;
  /** Nothing for a new file. */
  readonly before: string | undefined;
  /** From the top down; of a new file one that has all lines. */
  readonly edits: readonly Edit[];
  readonly wanted: string;
}

/** What a model is asked to do. */
export interface Task {
  readonly kind: string;
  readonly name: string;
  readonly files: readonly TaskFile[];
}

/** How a file is written down. */
export interface Form {
  /** The end of a line, by its number from 0. Default: LF. */
  readonly end?: (line: number) => string;
  readonly mark?: string;
  /** The last line has no end. */
  readonly open?: boolean;
}

/** A file of these lines, and edits of it. A line keeps its end; new lines end as the file's first line does. */
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

/** A file that is not there yet. */
export function newFile(path: string, lines: readonly string[]): TaskFile {
  const wanted = lines.map((line) => `${line}\n`).join("");
  return { path, before: undefined, edits: [{ start: 1, end: 1, lines }], wanted };
}

/** Edits that change each line for which `change` answers something else. */
export function eachLine(lines: readonly string[], change: (line: string) => string | undefined): Edit[] {
  return lines.flatMap((line, n) => {
    const fresh = change(line);
    if (fresh === line) return [];
    return [{ start: n + 1, end: n + 2, lines: fresh === undefined ? [] : [fresh] }];
  });
}
