import { bare, cut, padded } from "../screen/cells.ts";
import type { Theme } from "../theme/theme.ts";

/** A line of a list; the one under the bar has a sign before it, and is painted as a whole. */
export function listLine(line: string, isCurrent: boolean, columns: number, theme: Theme): string {
  if (!isCurrent) return `  ${line}`;
  const marked = `❯ ${cut(bare(line), columns - 2)}`;
  return theme.depth === 1 ? marked : theme.selected(padded(marked, columns));
}
