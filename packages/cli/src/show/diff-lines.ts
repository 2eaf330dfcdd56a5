import type { ChangeDraft, FileChange } from "@banyan/core/conversation";
import { counted, visibleLine, visibleProse } from "@banyan/core/shown";
import type { ChangedFile } from "@banyan/host";
import { foldedName, shownPath } from "@banyan/tools/named-path";
import { excerptLine } from "./fit-text.ts";
import { plainLine } from "./plain-text.ts";
import type { Style } from "./style.ts";
import { table } from "./table.ts";

/** A changed file in a list. */
export interface ListedFile extends Pick<ChangedFile, "path" | "kind" | "added" | "removed"> {
  readonly worktree?: string | undefined;
  /** A note at the end of the file's line. */
  readonly note?: string;
}

export interface DiffOptions {
  readonly style: Style;
  readonly most?: number;
}

/** Describes a changed file on one line, such as `changed src/a.ts, 3 lines added, 1 removed`. */
export function changeHead(
  { path, kind, added, removed, formatter }: Omit<FileChange, "diff" | "before" | "after">,
  style: Style,
): string {
  const amounts = [added > 0 ? `${counted(added, "line")} added` : "", removed > 0 ? `${removed} removed` : ""];
  const act = formatter === undefined ? kind : `${plainLine(formatter)} formatted`;
  const said = [`${act} ${style.bold(listedName(path))}`, ...amounts].filter((text) => text !== "");
  return said.join(", ");
}

/**
 * Formats a unified diff for users. Lines are numbered, and marked with `+` and `-`, not only by colour (T23). `⋮`
 * separates distant parts. Hidden characters become visible.
 */
export function diffLines(diff: string, { style, most = Number.POSITIVE_INFINITY }: DiffOptions): string[] {
  const rows = patchRows(diff);
  const width = String(Math.max(0, ...rows.map(({ number = 0 }) => number))).length;
  const lines = rows.map((row) => rowLine(row, width, style));
  const more = lines.length - most;
  return more > 0 ? [...lines.slice(0, most), style.dim(`… (${counted(more, "more line")})`)] : lines;
}

/**
 * Formats a change that the model is still writing: its place, and the last `most` lines so far, each with `+`.
 * `before`: number of earlier lines that are not in `text`.
 */
export function draftLines(
  draft: ChangeDraft,
  { style, most = Number.POSITIVE_INFINITY, before = 0 }: DiffOptions & { readonly before?: number },
): string[] {
  const { start = 1, text } = draft;
  const written = text === "" ? [] : text.replace(/\n$/, "").split("\n");
  const last = written.slice(Math.max(0, written.length - most));
  const count = before + written.length;
  const first = start + count - last.length;
  // Fixed width: the lines must not move when numbers get longer.
  const width = Math.max(3, String(start + count - 1).length);
  return [
    `writing ${draftPlace(draft, style)}${style.dim(`, ${counted(count, "line")} so far`)}`,
    ...last.map((line, index) => rowLine({ sign: "+", text: line, number: first + index }, width, style)),
  ];
}

/** Describes a change that no tool has applied yet, such as `12 lines for src/a.ts, lines 9 to 12`. */
export function draftEnd(draft: ChangeDraft, count: number, style: Style): string {
  return `${counted(count, "line")} for ${draftPlace(draft, style)}`;
}

/** Such as `src/a.ts, lines 9 to 12`. */
function draftPlace({ path, start, end = start }: ChangeDraft, style: Style): string {
  const name = style.bold(listedName(path));
  if (start === undefined || end === undefined) return name;
  if (end <= start) return `${name}, at line ${start}`;
  return `${name}, ${end === start + 1 ? `line ${start}` : `lines ${start} to ${end - 1}`}`;
}

function pathInWorktree(path: string, worktree: string | undefined): string {
  const name = listedName(path);
  return worktree === undefined ? name : `${name} (in the worktree ${plainLine(worktree)})`;
}

/** A line of a diff: in both files, in one of them, or a separator. */
interface DiffLineRow {
  readonly sign: " " | "+" | "-" | "⋮" | "\\";
  readonly text: string;
  readonly number?: number;
}

function patchRows(diff: string): DiffLineRow[] {
  const rows: DiffLineRow[] = [];
  let [before, after, inside] = [0, 0, false];
  for (const line of diff.replace(/\n$/, "").split("\n")) {
    const [, oldStart, newStart] = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line) ?? [];
    if (oldStart !== undefined) {
      if (inside) rows.push({ sign: "⋮", text: "" });
      [before, after, inside] = [Number(oldStart), Number(newStart), true];
    } else if (inside) {
      const sign = line.charAt(0);
      if (sign === "-") rows.push({ sign, text: line.slice(1), number: before++ });
      else if (sign === "+") rows.push({ sign, text: line.slice(1), number: after++ });
      else if (sign === "\\") rows.push({ sign, text: line.slice(1) });
      else {
        rows.push({ sign: " ", text: line.slice(1), number: after++ });
        before++;
      }
    }
  }
  return rows;
}

function rowLine({ sign, text, number }: DiffLineRow, width: number, style: Style): string {
  const shown = visibleProse(text).replaceAll("\t", "    ");
  const place = String(number ?? "").padStart(width);
  if (sign === "⋮") return style.dim(`${" ".repeat(width)} ⋮`);
  if (sign === "\\") return style.dim(`${place}  ${shown.trim()}`);
  const line = `${sign} ${shown}`.trimEnd();
  const paint = sign === "+" ? style.good : sign === "-" ? style.bad : (plain: string) => plain;
  return `${style.dim(place)} ${paint(line)}`.trimEnd();
}

/** Returns a file's name with codes in place of invisible characters, so that no two files look the same (F82). */
function listedName(path: string): string {
  return visibleLine(shownPath(path));
}

/** Finds the changed file that the user names: by its path in the list, or by a name with look-alike characters. */
export function changedFileNamed<File extends Pick<ChangedFile, "path">>(
  files: readonly File[],
  named: string,
): File | undefined {
  const wanted = named.replace(/^\.\//, "");
  const alike = files.filter(({ path }) => foldedName(path) === foldedName(wanted));
  return (
    files.find(({ path }) => path === wanted || shownPath(path) === wanted || listedName(path) === wanted) ??
    (alike.length === 1 ? alike[0] : undefined)
  );
}

/**
 * Lists changed files, one per line, with added and removed lines. `title`: a conversation's title. `since`: the
 * earlier state.
 */
export function changedFileLines(
  files: readonly ListedFile[],
  { title, since }: { readonly title?: string | undefined; readonly since?: string } = {},
): string[] {
  const of = title === undefined ? "" : ` by “${excerptLine(title, 60)}”`;
  if (files.length === 0) return [`There are no changed files${of}: nothing was changed, or all changes were undone.`];
  const rows = files.map(({ path, worktree, kind, added, removed, note = "" }) => [
    kind,
    `+${added}`,
    `-${removed}`,
    pathInWorktree(path, worktree),
    ...(note === "" ? [] : [note]),
  ]);
  return [
    `${counted(files.length, "file")} changed${since === undefined ? of : ` ${since}`}:`,
    ...table(rows).map((line) => `  ${line}`),
  ];
}
