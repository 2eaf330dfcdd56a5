/** A character of a line, and the parameters of its colours and style, such as `1;38;5;246`. */
interface StyledCharacter {
  readonly text: string;
  readonly style: string;
}

/** The width of a terminal, and the characters beyond ASCII that surely fill one of its cells. */
export interface RowCells {
  readonly columns: number;
  readonly narrow: RegExp;
}

/** Characters beyond ASCII that fill one cell in every terminal: the braille patterns of the spinner. */
export const NARROW_EVERYWHERE = /^[\u2800-\u28ff]$/;

/** Characters beyond ASCII that fill one cell without East Asian fonts: letters, punctuation and table lines. */
export const NARROW_IN_THE_WEST =
  /^[[\u00a1-\u00ac\u00ae-\u02ff\u0370-\u052f\u2010-\u2027\u2030-\u205e\u2500-\u257f\u2800-\u28ff]--[\p{M}\p{Extended_Pictographic}]]$/v;

/** Output that changes a row of the screen. */
interface RowChange {
  /** The column, from 0, where the output begins. */
  readonly column: number;
  readonly bytes: string;
  /** The cursor's column afterwards; undefined if terminals may differ. */
  readonly end: number | undefined;
  /** True if the output leaves some cells blank for a moment. */
  readonly blanks: boolean;
}

const RESET = "\x1b[m";
const ERASE_TO_END = "\x1b[K";

/**
 * Returns the output that changes a row from one line to another; undefined for equal lines. Writes only the characters
 * that differ, as far as the columns are certain: terminals show some characters in one cell or in two.
 */
export function rowChange(old: string, line: string, { columns, narrow }: RowCells): RowChange | undefined {
  if (old === line) return undefined;
  const start = commonStart(old, line, narrow);
  const [before, after] = [charactersOf(old, start), charactersOf(line, start)];
  const known = before && after && start.column + Math.max(before.length, after.length) <= columns;
  if (!known) return { column: 0, bytes: ERASE_TO_END + paintedLine(line), end: undefined, blanks: true };
  const first = after.findIndex((character, index) => !isSame(character, before[index]));
  const begin = first < 0 ? after.length : first;
  const [sureBefore, sureAfter] = [sureLength(before, narrow), sureLength(after, narrow)];
  if (sureBefore < before.length || sureAfter < after.length) {
    // A combining mark belongs to the character before it.
    const from = Math.max(0, Math.min(begin, sureBefore - 1, sureAfter - 1));
    const erased = old === "" ? "" : ERASE_TO_END;
    const bytes = erased + painted(after.slice(from));
    return { column: start.column + from, bytes, end: undefined, blanks: erased !== "" };
  }
  const isShorter = after.length < before.length;
  const last =
    after.length === before.length
      ? after.findLastIndex((character, index) => !isSame(character, before[index]))
      : after.length - 1;
  if (begin > last && !isShorter) return undefined;
  const bytes = painted(after.slice(begin, last + 1)) + (isShorter ? ERASE_TO_END : "");
  return { column: start.column + begin, bytes, end: start.column + last + 1, blanks: false };
}

/** A place in a line: the index of its character, its column, and the colours and style there. */
interface LineStart {
  readonly index: number;
  readonly column: number;
  readonly slots: readonly string[];
}

/** Returns the place of the last character before which two lines surely have the same cells. */
function commonStart(old: string, line: string, narrow: RegExp): LineStart {
  let { index, column, slots } = LINE_START;
  let next = index;
  let nextSlots = slots;
  for (;;) {
    const character = line[next];
    if (character === undefined) break;
    if (character === "\x1b") {
      const color = colorAt(line, next);
      const changed = [...nextSlots];
      if (!color || !old.startsWith(color.sequence, next) || !applyStyle(changed, color.parameters)) break;
      nextSlots = changed;
      next += color.sequence.length;
    } else {
      if (old[next] !== character || !(isAscii(character) || narrow.test(character))) break;
      // The comparison begins with this character, because a combining mark may follow.
      index = next++;
      slots = nextSlots;
      column++;
    }
  }
  return { index, column: Math.max(0, column - 1), slots };
}

/** Returns the line with the shortest colour sequences. Its end has the terminal's own colours. */
export function paintedLine(line: string): string {
  if (!line.includes("\x1b")) return line;
  const characters = charactersOf(line);
  return characters ? painted(characters) : line + RESET;
}

/** Returns whether the terminal surely shows the line in one row. */
export function surelyFits(line: string, { columns, narrow }: RowCells): boolean {
  const characters = charactersOf(line);
  return (
    (characters?.reduce((sum, { text }) => sum + (isAscii(text) || narrow.test(text) ? 1 : 2), 0) ??
      Number.POSITIVE_INFINITY) <= columns
  );
}

function isAscii(text: string): boolean {
  return text >= " " && text <= "~";
}

function isSame(one: StyledCharacter, other: StyledCharacter | undefined): boolean {
  return one.text === other?.text && one.style === other.style;
}

/** Returns the number of characters before the first one with an uncertain width. */
function sureLength(characters: readonly StyledCharacter[], narrow: RegExp): number {
  const first = characters.findIndex(({ text }) => !isAscii(text) && !narrow.test(text));
  return first < 0 ? characters.length : first;
}

function painted(characters: readonly StyledCharacter[]): string {
  let bytes = "";
  let style = "";
  for (const character of characters) {
    // Blanks look the same in each text colour.
    const isAnyColor = character.text === " " && isInvisible(style) && isInvisible(character.style);
    if (!isAnyColor && character.style !== style) {
      bytes += styleChange(style, character.style);
      style = character.style;
    }
    bytes += character.text;
  }
  return bytes + (style === "" ? "" : RESET);
}

/** Returns whether a style changes only visible characters: no underline, inverse colours, stroke or background. */
function isInvisible(style: string): boolean {
  return !/^(?:[123];)*[479](?:;|$)|(?:^|;)(?:4[0-79]|48;.*|10[0-7])$/.test(style);
}

function styleChange(from: string, to: string): string {
  if (to === "") return RESET;
  if (to.startsWith(`${from};`)) return `\x1b[${to.slice(from.length + 1)}m`;
  return from === "" ? `\x1b[${to}m` : `\x1b[0;${to}m`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control sequences
const COLOR = /\x1b\[([\d;]*)m/y;

/** Returns the sequence for a colour or style at an index. */
function colorAt(line: string, index: number): { readonly sequence: string; readonly parameters: string } | undefined {
  COLOR.lastIndex = index;
  const [sequence, parameters] = COLOR.exec(line) ?? [];
  return sequence !== undefined && parameters !== undefined ? { sequence, parameters } : undefined;
}

/** Splits a line into characters; undefined if it contains other sequences than known colours and styles. */
function charactersOf(line: string, start = LINE_START): StyledCharacter[] | undefined {
  const characters: StyledCharacter[] = [];
  const slots: string[] = [...start.slots];
  let style = styleOf(slots);
  for (let index = start.index; index < line.length; ) {
    if (line[index] === "\x1b") {
      const color = colorAt(line, index);
      if (!color || !applyStyle(slots, color.parameters)) return undefined;
      style = styleOf(slots);
      index += color.sequence.length;
    } else {
      const text = String.fromCodePoint(line.codePointAt(index) ?? 0);
      characters.push({ text, style });
      index += text.length;
    }
  }
  return characters;
}

function styleOf(slots: readonly string[]): string {
  return slots.filter((code) => code !== "").join(";");
}

/** Bold, faint, italic, underlined, inverse, struck out, text colour, background colour. */
const SLOTS = 8;
const LINE_START: LineStart = { index: 0, column: 0, slots: Array.from({ length: SLOTS }, () => "") };
const [TEXT, BACKGROUND] = [6, 7];
const ON: Readonly<Record<string, number>> = { 1: 0, 2: 1, 3: 2, 4: 3, 7: 4, 9: 5 };
const OFF: Readonly<Record<string, readonly number[]>> = {
  22: [0, 1],
  23: [2],
  24: [3],
  27: [4],
  29: [5],
  39: [TEXT],
  49: [BACKGROUND],
};

/** Applies the parameters of a sequence. Returns false for unknown ones. */
function applyStyle(slots: string[], parameters: string): boolean {
  const codes = parameters.split(";");
  for (let index = 0; index < codes.length; index++) {
    const code = codes[index] ?? "";
    const on = ON[code];
    if (code === "" || code === "0") slots.fill("");
    else if (on !== undefined) slots[on] = code;
    else if (OFF[code]) for (const slot of OFF[code]) slots[slot] = "";
    else if (/^(?:3[0-7]|9[0-7])$/.test(code)) slots[TEXT] = code;
    else if (/^(?:4[0-7]|10[0-7])$/.test(code)) slots[BACKGROUND] = code;
    else if (code === "38" || code === "48") {
      const count = codes[index + 1] === "5" ? 3 : codes[index + 1] === "2" ? 5 : 0;
      if (count === 0 || index + count > codes.length) return false;
      slots[code === "38" ? TEXT : BACKGROUND] = codes.slice(index, index + count).join(";");
      index += count - 1;
    } else return false;
  }
  return true;
}
