import type { TextWithCursor } from "./vim-motions.ts";
import { firstNonBlank, lineAround, type Range, unitsOf } from "./vim-motions.ts";

/** Indentation that `>` adds and `<` removes. */
const INDENT = "  ";

/** Moves the cursor down by `count` lines (up if negative), to the same column if the line is long enough. */
export function moveByLines({ text, at }: TextWithCursor, count: number): TextWithCursor | undefined {
  const [start] = lineAround(text, at);
  let line = start;
  for (let left = Math.abs(count); left > 0; left--) {
    const next = count > 0 ? lineAround(text, line)[1] + 1 : line === 0 ? -1 : lineAround(text, line - 1)[0];
    if (next < 0 || next > text.length) break;
    line = next;
  }
  if (line === start && count !== 0) return undefined;
  return { text, at: Math.min(line + at - start, lineAround(text, line)[1]) };
}

/** Extent of a selection: number of line ends, and characters in the last line. */
interface SelectionExtent {
  readonly lines: number;
  readonly characters: number;
}

export function selectionExtent(text: string, [from, to]: Range): SelectionExtent {
  const lines = text.slice(from, to).split("\n");
  return {
    lines: lines.length - 1,
    characters: unitsOf(lines.at(-1) ?? "").filter(({ kind }) => kind !== "end").length,
  };
}

/** Returns the last character of a selection of this size that begins at `place`, at most the text's end. */
export function extentEnd({ lines, characters }: SelectionExtent, place: TextWithCursor): TextWithCursor {
  const { text } = place;
  const below = moveByLines(place, lines) ?? place;
  const [start, end] = lineAround(text, below.at);
  const from = lines === 0 ? place.at : start;
  const units = unitsOf(text).filter((unit) => unit.at >= from && unit.at < end);
  return { text, at: units.slice(0, Math.max(1, characters)).at(-1)?.at ?? from };
}

/** Replaces `count` characters of the line. Undefined if the line has fewer characters, unless `fewer` is set. */
export function replaceCharacters(
  { text, at }: TextWithCursor,
  count: number,
  form: (character: string) => string,
  fewer = false,
) {
  const [, end] = lineAround(text, at);
  const units = unitsOf(text)
    .filter((unit) => unit.at >= at && unit.at < end)
    .slice(0, count);
  const last = units.at(-1);
  if (!last || (units.length < count && !fewer)) return undefined;
  const forms = units.map((unit) => form(unit.text));
  const lastAt = at + forms.slice(0, -1).join("").length;
  return { text: text.slice(0, at) + forms.join("") + text.slice(last.at + last.text.length), at: lastAt };
}

export function otherCase(character: string): string {
  return character === character.toLowerCase() ? character.toUpperCase() : character.toLowerCase();
}

/** Case conversions of a selection, by the letter of the vi command. */
export const CASES: Readonly<Record<string, (character: string) => string>> = {
  "~": otherCase,
  u: (character) => character.toLowerCase(),
  U: (character) => character.toUpperCase(),
};

/** Indents the lines of a range by `steps`, or unindents them if negative. Blank lines stay. */
export function shiftedLines(text: string, [from, to]: Range, steps: number): TextWithCursor {
  const [first, last] = [lineAround(text, from)[0], lineAround(text, Math.max(from, to - 1))[1]];
  const lines = text.slice(first, last).split("\n");
  const whole = text.slice(0, first) + lines.map((line) => shifted(line, steps)).join("\n") + text.slice(last);
  return { text: whole, at: firstNonBlank(whole, first, lineAround(whole, first)[1]) };
}

function shifted(line: string, steps: number): string {
  if (line.trim() === "") return line;
  if (steps > 0) return INDENT.repeat(steps) + line;
  const blanks = /^ */.exec(line)?.[0].length ?? 0;
  return line.slice(Math.min(blanks, -steps * INDENT.length));
}

/** Joins the next lines to the current line, separated by one space. */
export function joinLines({ text, at }: TextWithCursor, times: number): TextWithCursor | undefined {
  let place: TextWithCursor | undefined;
  for (let time = 0; time < times; time++) {
    const from: TextWithCursor = place ?? { text, at };
    const [start, end] = lineAround(from.text, from.at);
    if (end === from.text.length) break;
    const next = from.text.slice(end + 1).replace(/^[^\S\n]+/, "");
    const blank = end === start || next === "" || next.startsWith("\n") ? "" : " ";
    place = { text: from.text.slice(0, end) + blank + next, at: end };
  }
  return place;
}
