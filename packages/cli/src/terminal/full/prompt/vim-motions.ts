/** A text and its cursor, in UTF-16 code units. */
export interface TextWithCursor {
  readonly text: string;
  readonly at: number;
}

/** A visible character, or a collapsed paste. */
interface Unit {
  readonly at: number;
  readonly text: string;
  readonly kind: "word" | "sign" | "blank" | "end";
}

/** A part of a text: from the offset `from` up to, but without, the offset `to`. */
export type Range = readonly [from: number, to: number];

/** Target of a motion. `isInclusive`: an operator includes the character there. */
interface MotionTarget {
  readonly at: number;
  readonly isInclusive?: boolean;
}

/** The motion that `cw` uses: to the end of the word under the cursor, so that the space after the word stays. */
export const REST = "rest";

/**
 * Returns the target of a vi motion, `count` times; undefined if there is no target. `line`: a line number, from 1.
 * `isAgain`: repeats a character search, and skips the match next to the cursor.
 */
export function motionOf(
  motion: string,
  place: TextWithCursor,
  {
    count = 1,
    line,
    isAgain = false,
  }: { readonly count?: number; readonly line?: number; readonly isAgain?: boolean } = {},
): MotionTarget | undefined {
  const { text, at } = place;
  if (motion === "gg" || motion === "G") {
    const first = line === undefined ? (motion === "gg" ? 0 : lineAround(text, text.length)[0]) : lineStart(text, line);
    return { at: firstNonBlank(text, first, lineAround(text, first)[1]) };
  }
  if (/^[fFtT]./su.test(motion)) return findOnLine(motion, place, count, isAgain);
  const units = unitsOf(text);
  let target: MotionTarget | undefined = { at };
  for (let time = 0; time < count && target; time++) {
    // Changing several words keeps the space after the last one.
    const step: string = motion === REST && time < count - 1 ? "w" : motion;
    const next: MotionTarget | undefined = oneStep(step, { text, at: target.at }, units);
    if (next?.at === target.at && time > 0) break;
    target = next;
  }
  return target;
}

/** Start of a line by its number, or of the last line. */
function lineStart(text: string, line: number): number {
  let start = 0;
  for (let number = 1; number < line; number++) {
    const end = text.indexOf("\n", start);
    if (end < 0) break;
    start = end + 1;
  }
  return start;
}

/** Finds a character on the line: at it (`f`, `F`) or next to it (`t`, `T`), forwards or backwards. */
function findOnLine(
  motion: string,
  { text, at }: TextWithCursor,
  count: number,
  isAgain: boolean,
): MotionTarget | undefined {
  const [how = "", wanted] = [motion.slice(0, 1), motion.slice(1)];
  const [start, end] = lineAround(text, at);
  const isForwards = how === "f" || how === "t";
  const isBefore = how === "t" || how === "T";
  const units = unitsOf(text).filter((unit) => unit.at >= start && unit.at < end);
  const others = isForwards ? units.filter((unit) => unit.at > at) : units.filter((unit) => unit.at < at).toReversed();
  const found = others.slice(isAgain && isBefore ? 1 : 0).filter((unit) => unit.text === wanted)[count - 1];
  if (!found) return undefined;
  const index = units.indexOf(found) + (isBefore ? (isForwards ? -1 : 1) : 0);
  return { at: units[index]?.at ?? at, isInclusive: isForwards };
}

function oneStep(motion: string, { text, at }: TextWithCursor, units: readonly Unit[]): MotionTarget | undefined {
  const [start, end] = lineAround(text, at);
  const isBig = /^[WBE]$/.test(motion);
  const here = units.findLastIndex((unit) => unit.at <= at);
  const kind = (index: number) => (isBig && units[index]?.kind === "sign" ? "word" : units[index]?.kind);
  const isGap = (index: number) => kind(index) === "blank" || kind(index) === "end";
  const isAlike = (index: number, other: number) => kind(index) !== undefined && kind(index) === kind(other);
  const place = (index: number) => units[index]?.at ?? text.length;
  switch (isBig ? motion.toLowerCase() : motion) {
    case "h":
      return { at: Math.max(start, units.findLast((unit) => unit.at < at)?.at ?? 0) };
    case "l":
      return { at: Math.min(end, place(here + 1)) };
    case "0":
      return { at: start };
    case "^":
      return { at: firstNonBlank(text, start, end) };
    case "$":
      return { at: end };
    case "w": {
      let next = here;
      if (!isGap(here)) while (isAlike(next, here)) next++;
      while (isGap(next)) next++;
      return { at: place(next) };
    }
    case "b": {
      let before = (here < 0 ? 0 : at >= text.length ? units.length : here) - 1;
      while (before > 0 && isGap(before)) before--;
      while (before > 0 && isAlike(before - 1, before)) before--;
      return { at: place(Math.max(0, before)) };
    }
    case "e": {
      let next = here + 1;
      while (isGap(next)) next++;
      while (isAlike(next + 1, next)) next++;
      return next >= units.length ? { at: text.length } : { at: place(next), isInclusive: true };
    }
    case REST: {
      let next = here;
      while (!isGap(next) && isAlike(next + 1, here)) next++;
      return { at: place(next), isInclusive: !isGap(next) };
    }
    default:
      return undefined;
  }
}

/** Returns the range of a vi text object, such as `iw`, `a"` or `i(`. */
export function objectAt(object: string, { text, at }: TextWithCursor): Range | undefined {
  const isInner = object.startsWith("i");
  const name = object.slice(1);
  if (name === "w" || name === "W") return wordAt(text, at, name === "W", isInner);
  if (QUOTES.includes(name)) return quotedAt(text, at, name, isInner);
  const pair = PAIRS.find((signs) => signs.includes(name));
  return pair === undefined ? undefined : pairAt(text, at, [pair.slice(0, 1), pair.slice(1, 2)], isInner);
}

const QUOTES: readonly string[] = ['"', "'", "`"];
/** Opening and closing sign, and further letters for the pair. */
const PAIRS: readonly string[] = ["()b", "[]", "{}B", "<>"];

function wordAt(text: string, at: number, isBig: boolean, isInner: boolean): Range | undefined {
  const [start, end] = lineAround(text, at);
  const units = unitsOf(text).filter((unit) => unit.at >= start && unit.at < end);
  const here = units.findLastIndex((unit) => unit.at <= at);
  const kind = (index: number) => (isBig && units[index]?.kind === "sign" ? "word" : units[index]?.kind);
  if (here < 0) return undefined;
  const last = (index: number) => {
    let next = index;
    while (kind(next + 1) !== undefined && kind(next + 1) === kind(next)) next++;
    return next;
  };
  let from = here;
  while (from > 0 && kind(from - 1) === kind(here)) from--;
  let to = last(here);
  if (!isInner) {
    // Include the spaces after the word, else those before it; for spaces, include the following word.
    if (kind(here) === "blank" || kind(to + 1) === "blank") to = last(Math.min(to + 1, units.length - 1));
    else while (from > 0 && kind(from - 1) === "blank") from--;
  }
  const lastUnit = units[to];
  return lastUnit && [units[from]?.at ?? at, lastUnit.at + lastUnit.text.length];
}

function quotedAt(text: string, at: number, quote: string, isInner: boolean): Range | undefined {
  const [start, end] = lineAround(text, at);
  let open = text.indexOf(quote, start);
  while (open >= 0 && open < end) {
    const close = text.indexOf(quote, open + 1);
    if (close < 0 || close >= end) return undefined;
    if (at <= close) {
      if (isInner) return [open + 1, close];
      const blanks = /^[ \t]*/.exec(text.slice(close + 1, end))?.[0].length ?? 0;
      return [open, close + 1 + blanks];
    }
    open = text.indexOf(quote, close + 1);
  }
  return undefined;
}

function pairAt(
  text: string,
  at: number,
  [open, close]: readonly [string, string],
  isInner: boolean,
): Range | undefined {
  let depth = text[at] === close ? 0 : 1;
  let from = at;
  for (; from >= 0; from--) {
    if (text[from] === close) depth++;
    else if (text[from] === open && --depth === 0) break;
  }
  if (from < 0) return undefined;
  let to = from + 1;
  for (let level = 1; to < text.length; to++) {
    if (text[to] === open) level++;
    else if (text[to] === close && --level === 0) break;
  }
  if (to >= text.length) return undefined;
  return isInner ? [from + 1, to] : [from, to + 1];
}

export function lineAround(text: string, at: number): readonly [start: number, end: number] {
  const end = text.indexOf("\n", at);
  return [at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1, end < 0 ? text.length : end];
}

/** Returns the first non-blank character of a line; the end of a blank line. */
export function firstNonBlank(text: string, start: number, end: number): number {
  return end - text.slice(start, end).trimStart().length;
}

/** Returns the offset after the character at an offset. */
export function placeAfter(text: string, at: number): number {
  const unit = unitsOf(text).find((one) => one.at >= at);
  return unit ? unit.at + unit.text.length : text.length;
}

const CHARACTERS = new Intl.Segmenter();
/** The editor's text for a collapsed paste. */
const PASTE = /(\[paste #\d+(?: (?:\+\d+ lines|\d+ chars))?\])/;

export function unitsOf(text: string): Unit[] {
  let at = 0;
  return text.split(PASTE).flatMap((piece, index) => {
    const characters = index % 2 === 1 ? [piece] : Array.from(CHARACTERS.segment(piece), ({ segment }) => segment);
    return characters.map((character): Unit => {
      const unit = { at, text: character, kind: characterKind(character) };
      at += character.length;
      return unit;
    });
  });
}

function characterKind(character: string): Unit["kind"] {
  if (character === "\n") return "end";
  if (/^\s/.test(character)) return "blank";
  return (character.length > 2 && PASTE.test(character)) || /^[\p{L}\p{N}\p{M}_]/u.test(character) ? "word" : "sign";
}
