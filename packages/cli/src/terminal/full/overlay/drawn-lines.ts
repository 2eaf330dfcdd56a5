import type { KeyAction } from "../keys/actions.ts";
import type { KeyBindings } from "../keys/key-bindings.ts";
import { cutToWidth, padToWidth, textWidth, withoutColors, wrapCells } from "../screen/cells.ts";
import type { Theme } from "../theme/theme.ts";

/** Draws a horizontal line with a title, and `end` at its end if there is room. */
export function rule(title: string, width: number, theme: Theme, end = ""): string {
  const name = cutToWidth(title, Math.max(0, width - 4));
  const begin = `${theme.dim("─")} ${name} `;
  const room = width - textWidth(begin);
  const tail = end !== "" && textWidth(end) + 6 <= room ? ` ${end} ${theme.dim("─")}` : "";
  return begin + theme.dim("─".repeat(Math.max(0, room - textWidth(tail)))) + tail;
}

/** Draws a line of a list. The selected line is marked with a sign, and painted as a whole. */
export function listLine(line: string, isCurrent: boolean, columns: number, theme: Theme): string {
  if (!isCurrent) return `  ${line}`;
  const marked = `❯ ${cutToWidth(withoutColors(line), columns - 2)}`;
  return theme.depth === 1 ? marked : theme.selected(padToWidth(marked, columns));
}

/** Returns key hints on one line: as many whole hints as fit, at least the first. */
export function hintLine(hints: readonly string[], columns: number): string {
  const [first = "", ...others] = hints.filter((hint) => hint !== "");
  const fits = (line: string, hint: string) => textWidth(line) + BETWEEN.length + textWidth(hint) <= columns;
  return cutToWidth(
    others.reduce((line, hint) => (fits(line, hint) ? line + BETWEEN + hint : line), first),
    columns,
  );
}

const BETWEEN = " · ";

/** Returns a hint for an action's key, such as `Esc goes back`. Empty without a key. */
export function keyHint(keys: KeyBindings, action: KeyAction | readonly KeyAction[], does: string): string {
  const names = [action].flat().map((each) => keys.hint(each));
  if (names.includes(undefined)) return "";
  const short = names.map((name = "") =>
    names.length === 1 ? name : (ARROWS[name] ?? name.replace(/^Shift\+(?=.$)/, "")),
  );
  return `${short.join(short.every((name) => ARROW.test(name)) ? " " : "/")} ${does}`;
}

const ARROWS: Readonly<Record<string, string>> = { Left: "←", Right: "→", Up: "↑", Down: "↓" };
const ARROW = /^[←→↑↓]$/;

/** Returns the first of several equivalent texts that fits. */
export function longestThatFits(texts: readonly string[], columns: number): string {
  return texts.find((text) => textWidth(text) <= columns) ?? cutToWidth(texts.at(-1) ?? "", columns);
}

/** Matches the gap between two columns of a line. */
export const COLUMN_GAP = / {2,}/g;

/**
 * Returns as many whole parts of a line as fit. If no part fits, returns words of the first part. `between` matches
 * separators.
 */
export function wholeParts(line: string, between: RegExp, columns: number): string {
  if (textWidth(line) <= columns) return line;
  const starts = [...line.matchAll(between)].map(({ index }) => line.slice(0, index));
  const parts = starts.findLast((start) => start.trim() !== "" && textWidth(start) <= columns);
  if (parts !== undefined) return parts;
  const short = cutToWidth(line, columns);
  const words = short.slice(0, Math.max(0, short.lastIndexOf(" ")));
  return words.trim() === "" ? short : `${words} …`;
}

/** Adds empty lines up to a height of `rows`, so that the lines after them are at the bottom of the screen. */
export function padLines(lines: readonly string[], rows: number): string[] {
  return [...lines, ...Array.from({ length: Math.max(0, rows - lines.length) }, () => "")];
}

/** Wraps a text. Lines after the first are indented. */
export function indentedLines(text: string, columns: number, indent = "  "): string[] {
  const [first = "", ...rest] = wrapCells(text, columns);
  return [first, ...rest.map((more) => indent + more)];
}

/** Returns the end of a text that is being typed, as far as it fits. */
export function lastColumns(text: string, columns: number): string {
  let shown = text;
  while (textWidth(shown) > columns) shown = shown.slice(1);
  return shown;
}
