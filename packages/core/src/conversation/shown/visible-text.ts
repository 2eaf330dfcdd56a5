/**
 * Makes all of a text visible to a user, so that no character can hide or reorder the rest (S23). Replaces each
 * invisible character by its code, such as `\u{202e}`: controls, format characters, emoji joiners, characters without a
 * glyph, spaces other than U+0020, surrogate halves, and private use. Line ends and tabs stay.
 * @example visibleText("a\u202eb") // "a\\u{202e}b"
 */
export function visibleText(text: string): string {
  return HIDES.test(text) ? text.replaceAll(each(), writtenOut) : text;
}

/**
 * Like `visibleText`, but on one line: line ends and tabs are replaced by their codes too.
 * @example visibleLine("a\tb") // "a\\tb"
 */
export function visibleLine(text: string): string {
  return visibleText(text).replaceAll("\n", "\\n").replaceAll("\t", "\\t");
}

/**
 * Makes a text safe for reading: replaces terminal controls, bidirectional controls and zero-width characters by their
 * codes, except inside emoji. Blanks and letters of all languages stay.
 * @example console.log(visibleProse((await agent.send("Hello")).text));
 */
export function visibleProse(text: string): string {
  if (!CONTROLS.test(text)) return text;
  return text.replaceAll(inProse(), (found, emoji?: string) => emoji ?? writtenOut(found));
}

/**
 * Returns the beginning of a text, at most `length` UTF-16 units, with `mark` at a cut. No character is split.
 * @example cutTo("A long sentence", 6) // "A long…"
 */
export function cutTo(text: string, length: number, mark = "…"): string {
  return text.length <= length ? text : `${text.slice(0, cutBefore(text, length))}${mark}`;
}

/**
 * Returns the end of a text, at most `length` UTF-16 units, with `mark` at a cut. No character is split.
 * @example cutToEnd("A long sentence", 8, "…") // "…sentence"
 */
export function cutToEnd(text: string, length: number, mark = ""): string {
  return text.length <= length ? text : `${mark}${text.slice(cutAfter(text, text.length - length))}`;
}

/** UTF-16 units around a cut that are examined. A longer character is split between its code points. */
const AROUND = 64;

/** Maximum UTF-16 units of consecutive flags that are examined. */
const MOST_FLAGS = 4_096;

const graphemes = makeOnce(() => new Intl.Segmenter("en", { granularity: "grapheme" }));

/**
 * Returns the last index at or before `at` at which a visible character starts (F46).
 * @example cutBefore("👍👍", 3) // 2
 */
export function cutBefore(text: string, at: number): number {
  if (at <= 0 || at >= text.length) return Math.max(0, Math.min(at, text.length));
  const near = Math.max(0, at - AROUND);
  // Two letters make one flag, so they are counted from the first.
  const flags = /(\ud83c[\udde6-\uddff])+\ud83c?$/.exec(text.slice(Math.max(0, near - MOST_FLAGS), near));
  const from = near - (flags?.[0].length ?? 0);
  const around = graphemes().segment(text.slice(from, at + AROUND));
  const begin = around.containing(at - from)?.index ?? 0;
  if (begin > 0 || from === 0) return from + begin;
  const isHalf = /[\ud800-\udbff]/.test(text.charAt(at - 1)) && /[\udc00-\udfff]/.test(text.charAt(at));
  return isHalf ? at - 1 : at;
}

/**
 * Cuts a text in the middle. Keeps half of `characters` UTF-16 units at each end. The line that `lineFor` returns marks
 * the cut.
 */
export function cutInMiddle(text: string, characters: number, lineFor: (cut: number) => string): string {
  if (text.length <= characters) return text;
  const head = cutBefore(text, Math.ceil(characters / 2));
  const tail = cutAfter(text, text.length - Math.floor(characters / 2));
  return `${text.slice(0, head)}\n${lineFor(tail - head)}\n${text.slice(tail)}`;
}

/**
 * Returns the first index at or after `at` at which a visible character starts (F46).
 * @example cutAfter("👍👍", 3) // 4
 */
export function cutAfter(text: string, at: number): number {
  let next = Math.max(0, at);
  while (next < text.length && cutBefore(text, next) !== next) next++;
  return Math.min(next, text.length);
}

function writtenOut(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}

/**
 * Default ignorable characters, and the categories Cc, Cf, Cs, Co, Zl, Zp and Zs (except the space). Empty characters
 * without such a property: the Braille pattern without dots, the musical null note head, the Egyptian hieroglyph
 * blanks, the Khitan small script filler, and the object replacement character.
 */
const HIDES =
  /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u{2800}\u{1d159}\u{13441}\u{13442}\u{16fe4}\u{fffc}]|[\p{Cc}--[\n\t]]|[\p{Zs}--[ ]]/v;
const each = makeOnce(() => new RegExp(HIDES, "gv"));

const CONTROLS = /[\p{Cc}--[\n\t]]|[\u{200b}-\u{200f}\u{2028}-\u{202e}\u{2060}-\u{2069}\u{feff}\u{e0000}-\u{e007f}]/v;

/** Not a literal: the set of all emoji takes longer to parse than the rest of this package. */
const inProse = makeOnce(() => new RegExp(`(\\p{RGI_Emoji})|${CONTROLS.source}`, "gv"));

function makeOnce<Made>(make: () => Made): () => Made {
  let made: Made | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/**
 * Removes Markdown marks that help little in a text of one or two lines: headings, fences, tables, code and bold.
 * @example withoutMarks("**Oak** is `hard`") // "Oak is hard"
 */
export function withoutMarks(text: string): string {
  return text
    .replaceAll(/^ *(?:`{3,}|~{3,}).*$/gm, "")
    .replaceAll(/^[ |:-]*-{3}[ |:-]*$/gm, "")
    .replaceAll(/^#{1,6} +(.+)$/gm, "$1 ·")
    .replaceAll(/`([^`\n]+)`/g, "$1")
    .replaceAll(/\*\*(\S|\S[^*\n]*\S)\*\*/g, "$1")
    .replace(/ ·\s*$/, "");
}
