/**
 * Text that a person decides about, as every client shows it: nothing of it hides, and nothing turns the rest around (S23).
 * What has no look of its own is written out, as in `\u{202e}`: controls, format characters, what a font need not draw,
 * blanks that are no space, halves of characters, and characters of which programs agree among themselves what they are.
 * Line ends and tabs stay. What joins emoji to one is written out too: here it is a character like any other.
 */
export function visibleText(text: string): string {
  return HIDES.test(text) ? text.replaceAll(EACH, writtenOut) : text;
}

/** The same on one line: line ends and tabs are written out too. */
export function visibleLine(text: string): string {
  return visibleText(text).replaceAll("\n", "\\n").replaceAll("\t", "\\t");
}

/**
 * Text that is only read: what controls a terminal, turns text around or has no width is written out, but not where it
 * belongs to an emoji; the blanks and letters of all languages stay as they are.
 */
export function visibleProse(text: string): string {
  if (!CONTROLS.test(text)) return text;
  return text.replaceAll(inProse(), (found, emoji?: string) => emoji ?? writtenOut(found));
}

/** The beginning of a text, in at most `length` UTF-16 units, and a mark behind it where it goes on. No character is cut in two. */
export function cutTo(text: string, length: number, mark = "…"): string {
  return text.length <= length ? text : `${text.slice(0, cutBefore(text, length))}${mark}`;
}

/** The end of a text, in at most `length` UTF-16 units, and a mark before it where more stands before. No character is cut in two. */
export function cutToEnd(text: string, length: number, mark = ""): string {
  return text.length <= length ? text : `${mark}${text.slice(cutAfter(text, text.length - length))}`;
}

/** UTF-16 units around a cut that are looked at: a character of more is cut between its code points. */
const AROUND = 64;

/** UTF-16 units of flags in a row that are looked at. */
const MOST_FLAGS = 4_096;

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** The last place at or before `at` where a character, as users see it, begins (F46). */
export function cutBefore(text: string, at: number): number {
  if (at <= 0 || at >= text.length) return Math.max(0, Math.min(at, text.length));
  const near = Math.max(0, at - AROUND);
  // Of letters that make flags, each two are one: they are counted from the first.
  const flags = /(\ud83c[\udde6-\uddff])+\ud83c?$/.exec(text.slice(Math.max(0, near - MOST_FLAGS), near));
  const from = near - (flags?.[0].length ?? 0);
  const begin = graphemes.segment(text.slice(from, at + AROUND)).containing(at - from)?.index ?? 0;
  if (begin > 0 || from === 0) return from + begin;
  const isHalf = /[\ud800-\udbff]/.test(text.charAt(at - 1)) && /[\udc00-\udfff]/.test(text.charAt(at));
  return isHalf ? at - 1 : at;
}

/**
 * Returns a text of which `characters` UTF-16 units are left, half of them from each end, with a line between them that says how
 * many were cut. No character is cut in two.
 */
export function cutInMiddle(text: string, characters: number, lineFor: (cut: number) => string): string {
  if (text.length <= characters) return text;
  const head = cutBefore(text, Math.ceil(characters / 2));
  const tail = cutAfter(text, text.length - Math.floor(characters / 2));
  return `${text.slice(0, head)}\n${lineFor(tail - head)}\n${text.slice(tail)}`;
}

/** The first place at or after `at` where a character, as users see it, begins (F46). */
export function cutAfter(text: string, at: number): number {
  let next = Math.max(0, at);
  while (next < text.length && cutBefore(text, next) !== next) next++;
  return Math.min(next, text.length);
}

function writtenOut(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}

/**
 * By their properties in Unicode: default ignorable, of the categories Cc, Cf, Cs, Co, Zl, Zp and Zs (but for the space).
 * By name, as no property says that they are empty: the Braille pattern without dots, the musical null note head, the
 * blanks of the Egyptian hieroglyphs, the filler of the Khitan small script, and the object replacement character.
 */
const HIDES =
  /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u{2800}\u{1d159}\u{13441}\u{13442}\u{16fe4}\u{fffc}]|[\p{Cc}--[\n\t]]|[\p{Zs}--[ ]]/v;
const EACH = new RegExp(HIDES, "gv");

const CONTROLS = /[\p{Cc}--[\n\t]]|[\u{200b}-\u{200f}\u{2028}-\u{202e}\u{2060}-\u{2069}\u{feff}\u{e0000}-\u{e007f}]/v;

/** Made when it is first needed, and not as a literal: all emoji that there are take longer to read than the rest of this package. */
const inProse = once(() => new RegExp(`(\\p{RGI_Emoji})|${CONTROLS.source}`, "gv"));

function once<Made>(make: () => Made): () => Made {
  let made: Made | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Markdown without the marks that say little where it is one line or two: of headings, fences and tables, of code and of what is bold. */
export function withoutMarks(text: string): string {
  return text
    .replaceAll(/^ *(?:`{3,}|~{3,}).*$/gm, "")
    .replaceAll(/^[ |:-]*-{3}[ |:-]*$/gm, "")
    .replaceAll(/^#{1,6} +(.+)$/gm, "$1 ·")
    .replaceAll(/`([^`\n]+)`/g, "$1")
    .replaceAll(/\*\*(\S|\S[^*\n]*\S)\*\*/g, "$1")
    .replace(/ ·\s*$/, "");
}
