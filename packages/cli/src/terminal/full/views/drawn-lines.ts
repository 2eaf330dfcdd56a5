import { bare, cut, padded, widthOf, wrapped } from "../screen/cells.ts";
import type { Theme } from "../theme/theme.ts";

/** A line across the terminal with a title in it, and something at its end if there is room. */
export function rule(title: string, width: number, theme: Theme, end = ""): string {
  const name = cut(title, Math.max(0, width - 4));
  const begin = `${theme.dim("─")} ${name} `;
  const room = width - widthOf(begin);
  const tail = end !== "" && widthOf(end) + 6 <= room ? ` ${end} ${theme.dim("─")}` : "";
  return begin + theme.dim("─".repeat(Math.max(0, room - widthOf(tail)))) + tail;
}

/** A line of a list; the one under the bar has a sign before it, and is painted as a whole. */
export function listLine(line: string, isCurrent: boolean, columns: number, theme: Theme): string {
  if (!isCurrent) return `  ${line}`;
  const marked = `❯ ${cut(bare(line), columns - 2)}`;
  return theme.depth === 1 ? marked : theme.selected(padded(marked, columns));
}

/** Lines with empty ones below them, so that what follows stands at the bottom. */
export function filled(lines: readonly string[], rows: number): string[] {
  return [...lines, ...Array.from({ length: Math.max(0, rows - lines.length) }, () => "")];
}

/** A text as lines, of which all but the first are set in. */
export function setIn(text: string, columns: number, indent = "  "): string[] {
  const [first = "", ...rest] = wrapped(text, columns);
  return [first, ...rest.map((more) => indent + more)];
}

/** The end of a text that is being typed, as far as it fits. */
export function lastColumns(text: string, columns: number): string {
  let shown = text;
  while (widthOf(shown) > columns) shown = shown.slice(1);
  return shown;
}
