import { isAbsolute, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { cutTo, isJsonRecord, NEW_PROBLEMS } from "@banyan/core/shown";
import { lineDiff } from "../workspace/changes/line-diff.ts";
import { stripControls } from "../workspace/files/plain-text.ts";

/** An error or a warning of a language server about a line of a file. */
export interface FileProblem {
  /** Relative to the workspace. */
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly severity: "error" | "warning";
  /** The message of the server, as one line of plain text. */
  readonly text: string;
}

/** The problems of a file, and the text that the server checked; undefined if unknown. */
export interface CheckedFile {
  readonly text: string | undefined;
  readonly problems: readonly FileProblem[];
}

/** Maximum problems that are read for one file, and UTF-16 units of a text. */
const MOST_READ = 2_000;
const LONGEST = 300;
/** Maximum problems in one report. */
const MOST_REPORTED = 20;

/** Reads the errors and warnings in a server's list of problems of a file. Leaves out malformed entries. */
export function readProblems(path: string, items: unknown): FileProblem[] {
  if (!Array.isArray(items)) return [];
  return items.slice(0, MOST_READ).flatMap((item): FileProblem[] => {
    if (!isJsonRecord(item) || typeof item.message !== "string") return [];
    const { severity = 1, range, source, code } = item;
    const start = isJsonRecord(range) && isJsonRecord(range.start) ? range.start.line : undefined;
    if (typeof start !== "number" || !Number.isSafeInteger(start) || start < 0) return [];
    if (severity !== 1 && severity !== 2) return [];
    const names = [source, code].filter((part) => typeof part === "string" || typeof part === "number");
    const from = names.length === 0 ? "" : ` [${names.join(" ")}]`;
    const text = cutTo(
      stripControls(`${item.message.slice(0, 2 * LONGEST)}${from}`)
        .replace(/\s+/g, " ")
        .trim(),
      LONGEST,
    );
    return [{ path, line: start + 1, severity: severity === 1 ? "error" : "warning", text }];
  });
}

/** Converts a file address of a server to a path of the workspace; undefined for any other address. */
export function pathOfUri(root: string, uri: unknown): string | undefined {
  if (typeof uri !== "string" || !uri.startsWith("file:")) return undefined;
  try {
    const path = relative(root, fileURLToPath(uri));
    return path === "" || path === ".." || path.startsWith(`..${sep}`) || isAbsolute(path)
      ? undefined
      : path.split(sep).join("/");
  } catch {
    // Not a valid address of a file.
    return undefined;
  }
}

/**
 * Returns the problems that are new since an earlier check of the file. If an earlier problem's line is unchanged, the
 * problem is looked for on that line, wherever the line is now. If the line has changed, the problem is looked for
 * among the lines that replaced it. If a text is missing, line numbers are ignored.
 */
export function newProblems(before: CheckedFile, now: CheckedFile): FileProblem[] {
  const placed = before.text === undefined || now.text === undefined ? undefined : linesAfter(before.text, now.text);
  const left = before.problems.map((problem) => ({ problem, place: placed?.(problem.line) }));
  return now.problems.filter((problem) => {
    const at = left.findIndex(
      ({ problem: old, place }) =>
        old.severity === problem.severity &&
        old.text === problem.text &&
        (place === undefined || (problem.line >= place.first && problem.line <= place.last)),
    );
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
}

/** Returns a function from an old line to the new lines in its place. */
function linesAfter(
  before: string,
  after: string,
): (line: number) => { readonly first: number; readonly last: number } {
  /** Replaced lines: old lines `from` to before `to`, new lines `first` to before `end`. */
  const replaced: { from: number; to: number; first: number; end: number }[] = [];
  for (const { oldStart, newStart, lines } of before === after ? [] : lineDiff(before, after).hunks) {
    let [old, now] = [oldStart, newStart];
    let open: (typeof replaced)[number] | undefined;
    for (const sign of lines.map((line) => line[0])) {
      if (sign === "\\") continue;
      if (sign === " ") open = undefined;
      else if (open === undefined) {
        open = { from: old, to: old, first: now, end: now };
        replaced.push(open);
      }
      if (sign !== "+") old += 1;
      if (sign !== "-") now += 1;
      if (open) [open.to, open.end] = [old, now];
    }
  }
  return (line) => {
    let shift = 0;
    for (const { from, to, first, end } of replaced) {
      if (line < from) break;
      if (line < to) return { first, last: Math.max(first, end) };
      shift = end - to;
    }
    return { first: line + shift, last: line + shift };
  };
}

/** Returns new problems as a report for the model. */
export function problemsReport(problems: readonly FileProblem[]): string {
  return [NEW_PROBLEMS, ...shownProblems(problems)].join("\n");
}

/** Returns problems as lines, errors first. After twenty problems, gives only the number of the others. */
export function shownProblems(problems: readonly FileProblem[]): string[] {
  const sorted = problems.toSorted(
    (one, other) =>
      Number(one.severity !== "error") - Number(other.severity !== "error") ||
      (one.path < other.path ? -1 : one.path > other.path ? 1 : one.line - other.line),
  );
  const lines = sorted.slice(0, MOST_REPORTED).map(problemLine);
  const more = sorted.length - lines.length;
  return [...lines, ...(more > 0 ? [`[${more} more]`] : [])];
}

/** Returns a problem as a line, such as `src/a.ts:12: error: Cannot find name 'x'. [typescript 2304]`. */
export function problemLine({ path, line, severity, text }: FileProblem): string {
  return `${path}:${line}: ${severity}: ${text}`;
}
