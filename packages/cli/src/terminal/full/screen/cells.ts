import {
  sliceByColumn,
  stripTerminalSequences,
  visibleWidth,
  wrapTextWithAnsi,
} from "@earendil-works/pi-tui/dist/utils.js";

/** The columns that text takes: none for colours and combining marks, two for wide characters and emoji. */
export function widthOf(text: string): number {
  return visibleWidth(text);
}

/** The columns that text takes at the least: terminals disagree about emoji, and some give them one. */
export function leastWidthOf(text: string): number {
  return visibleWidth(text.replace(EMOJI, "x"));
}

const EMOJI = /\p{RGI_Emoji}|\p{Extended_Pictographic}/gv;

/** Text on at most `width` columns; what was longer ends with `…`. What was begun in it is ended, and nothing else. */
export function cut(text: string, width: number): string {
  if (width <= 0) return "";
  if (visibleWidth(text) <= width) return text;
  const front = sliceByColumn(text, 0, width - 1, true);
  return `${front}…${openIn(front)
    .map((close) => `\x1b[${close}m`)
    .join("")}`;
}

/** The ends of the colours and weights that are still open at the end of a text. */
function openIn(text: string): string[] {
  const open = new Set<string>();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control sequences
  for (const [, code = ""] of text.matchAll(/\x1b\[([\d;]+)m/g)) {
    if (!open.delete(code)) open.add(endOf(code));
  }
  open.delete("");
  return [...open].reverse();
}

/** What ends what this begins: `1` (bold) by `22`, any colour of text by `39`. */
function endOf(code: string): string {
  const ends: Readonly<Record<string, string>> = { 1: "22", 2: "22", 3: "23", 4: "24", 7: "27", 9: "29" };
  return ends[code] ?? (/^(?:3[0-8]|9[0-7])/.test(code) ? "39" : "");
}

/** Text as lines of at most `width` columns, broken between words. A colour that is open at a break goes on behind it. */
export function wrapped(text: string, width: number): string[] {
  return wrapTextWithAnsi(text, Math.max(1, width));
}

/** Columns that a line of prose takes at most: the eye finds no way back from the end of a longer one. */
const LONGEST = 120;

/** Sentences as lines, which stay short enough to be read where there is more room. */
export function proseLines(text: string, width: number): string[] {
  return wrapped(text, Math.min(width, LONGEST));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours and links are control sequences
const SEQUENCE = /(\x1b\[[\d;:]*m|\x1b\]8;[^\x1b\x07]*(?:\x1b\\|\x07))/;

/** A word with its colours and links. */
const WORD = new RegExp(`(^|[ \\n]+)((?:${SEQUENCE.source}|[^\\s\\x1b])+)(?=[ \\n]|$)`, "g");

/** A private character that stands for an address, one column wide. */
const ADDRESS = "\u{10fffd}";

/**
 * The same for a place where the terminal breaks lines that are too long: an address that is longer than a line has one of its
 * own and stays whole, so that a copy of it has no line ends (T63).
 */
export function proseWithAddresses(text: string, width: number): string[] {
  const addresses: string[] = [];
  const short = text.replaceAll(WORD, (whole, before: string, word: string) => {
    if (!word.includes("://") || widthOf(word) <= Math.min(width, LONGEST)) return whole;
    const parts = word.split(SEQUENCE).map((part, index) => {
      if (index % 2 === 1 || !part.includes("://")) return part;
      addresses.push(part);
      return ADDRESS;
    });
    return `${before === "" ? "" : "\n"}${parts.join("")}\n`;
  });
  const lines = proseLines(
    short.replaceAll(/\n +|\n$/g, (end) => (end === "\n" ? "" : "\n")),
    width,
  );
  return lines.map((line) => line.replaceAll(ADDRESS, () => addresses.shift() ?? ""));
}

/** Text with blanks behind it, up to `width` columns. */
export function padded(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - visibleWidth(text)));
}

/** A line that is painted from a column on, one character or so many columns; behind its end that is a blank. */
export function paintedAt(line: string, column: number, paint: (text: string) => string, columns = 1): string {
  const front = padded(sliceByColumn(line, 0, column, true), column);
  const painted = bare(sliceByColumn(line, column, columns)) || " ";
  const behind = sliceByColumn(line, column + visibleWidth(painted), Number.POSITIVE_INFINITY);
  return front + paint(painted) + behind;
}

/** Text without its colours. */
export function bare(text: string): string {
  return stripTerminalSequences(text);
}
