import {
  sliceByColumn,
  stripTerminalSequences,
  visibleWidth,
  wrapTextWithAnsi,
} from "@earendil-works/pi-tui/dist/utils.js";

/** Returns how many terminal cells a text fills: escape sequences and combining marks none, wide characters two. */
export function textWidth(text: string): number {
  return visibleWidth(text);
}

/** Returns how many terminal cells a text fills at least: some terminals show emoji in only one cell. */
export function leastWidthOf(text: string): number {
  return visibleWidth(text.replace(EMOJI, "x"));
}

const EMOJI = /\p{RGI_Emoji}|\p{Extended_Pictographic}/gv;

/** Cuts text to at most `width` cells, with `…`. Ends colours and bold text that are open at the cut. */
export function cutToWidth(text: string, width: number): string {
  if (width <= 0) return "";
  if (visibleWidth(text) <= width) return text;
  const front = sliceByColumn(text, 0, width - 1, true);
  return `${front}…${endsOfOpenStyles(front)
    .map((close) => `\x1b[${close}m`)
    .join("")}`;
}

function endsOfOpenStyles(text: string): string[] {
  const open = new Set<string>();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control sequences
  for (const [, code = ""] of text.matchAll(/\x1b\[([\d;]+)m/g)) {
    if (!open.delete(code)) open.add(styleEnd(code));
  }
  open.delete("");
  return [...open].reverse();
}

/** The code that closes a code: `22` closes `1` (bold), `39` any text colour. */
function styleEnd(code: string): string {
  const ends: Readonly<Record<string, string>> = { 1: "22", 2: "22", 3: "23", 4: "24", 7: "27", 9: "29" };
  return ends[code] ?? (/^(?:3[0-8]|9[0-7])/.test(code) ? "39" : "");
}

/** Wraps text between words at `width` cells. Colours continue on the next line. */
export function wrapCells(text: string, width: number): string[] {
  return wrapTextWithAnsi(text, Math.max(1, width));
}

/** Maximum columns of prose: longer lines are hard to read. */
const LONGEST = 120;

/** Wraps prose between words at `width` cells, but at most 120. */
export function proseLines(text: string, width: number): string[] {
  return wrapCells(text, Math.min(width, LONGEST));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours and links are control sequences
const SEQUENCE = /(\x1b\[[\d;:]*m|\x1b\]8;[^\x1b\x07]*(?:\x1b\\|\x07))/;

const WORD = new RegExp(`(^|[ \\n]+)((?:${SEQUENCE.source}|[^\\s\\x1b])+)(?=[ \\n]|$)`, "g");

/** A private character of one column, as a placeholder for a URL. */
const ADDRESS = "\u{10fffd}";

/**
 * Wraps prose for a terminal that breaks long lines itself. A URL longer than a line stays whole on its own line, so
 * that a copy has no line ends (T63).
 */
export function proseWithAddresses(text: string, width: number): string[] {
  const addresses: string[] = [];
  const short = text.replaceAll(WORD, (whole, before: string, word: string) => {
    if (!word.includes("://") || textWidth(word) <= Math.min(width, LONGEST)) return whole;
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

export function padToWidth(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - visibleWidth(text)));
}

/** Paints `columns` cells of a line, from the cell `column` on. After the line's end, paints a blank. */
export function paintedAt(line: string, column: number, paint: (text: string) => string, columns = 1): string {
  const front = padToWidth(sliceByColumn(line, 0, column, true), column);
  const painted = withoutColors(sliceByColumn(line, column, columns)) || " ";
  const behind = sliceByColumn(line, column + visibleWidth(painted), Number.POSITIVE_INFINITY);
  return front + paint(painted) + behind;
}

export function withoutColors(text: string): string {
  return stripTerminalSequences(text);
}
