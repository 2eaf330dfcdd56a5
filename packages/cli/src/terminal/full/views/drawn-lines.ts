import type { Action } from "../keys/actions.ts";
import type { KeyBindings } from "../keys/key-bindings.ts";
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

/** What keys do, on one line: as much of it as there is room for, whole; the first of it in any case. */
export function hintLine(hints: readonly string[], columns: number): string {
  const [first = "", ...others] = hints.filter((hint) => hint !== "");
  const fits = (line: string, hint: string) => widthOf(line) + BETWEEN.length + widthOf(hint) <= columns;
  return cut(
    others.reduce((line, hint) => (fits(line, hint) ? line + BETWEEN + hint : line), first),
    columns,
  );
}

const BETWEEN = " · ";

/** `Esc goes back`: what the key of an action does; empty where it has none. */
export function keyHint(keys: KeyBindings, action: Action | readonly Action[], does: string): string {
  const names = [action].flat().map((each) => keys.hint(each));
  if (names.includes(undefined)) return "";
  // Two keys side by side are as short as they are on a keyboard.
  const short = names.map((name = "") =>
    names.length === 1 ? name : (ARROWS[name] ?? name.replace(/^Shift\+(?=.$)/, "")),
  );
  return `${short.join(short.every((name) => ARROW.test(name)) ? " " : "/")} ${does}`;
}

const ARROWS: Readonly<Record<string, string>> = { Left: "←", Right: "→", Up: "↑", Down: "↓" };
const ARROW = /^[←→↑↓]$/;

/** The longest of some texts that say the same that has room. */
export function fitting(texts: readonly string[], columns: number): string {
  return texts.find((text) => widthOf(text) <= columns) ?? cut(texts.at(-1) ?? "", columns);
}

/** What stands between the columns of a line. */
export const COLUMN_GAP = / {2,}/g;

/** As many parts of a line as have room, each whole; of a first one that has none, whole words. `between` tells parts apart. */
export function wholeParts(line: string, between: RegExp, columns: number): string {
  if (widthOf(line) <= columns) return line;
  const starts = [...line.matchAll(between)].map(({ index }) => line.slice(0, index));
  const parts = starts.findLast((start) => start.trim() !== "" && widthOf(start) <= columns);
  if (parts !== undefined) return parts;
  const short = cut(line, columns);
  const words = short.slice(0, Math.max(0, short.lastIndexOf(" ")));
  return words.trim() === "" ? short : `${words} …`;
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
