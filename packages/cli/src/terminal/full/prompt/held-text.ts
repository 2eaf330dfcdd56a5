/*
 * The form in which a prompt editor holds a text (T62). The library under it turns tabs into blanks and drops control characters, and a
 * terminal would obey them. So the editor holds one private character in place of each, which is drawn as a sign one column
 * wide and becomes the character again when the text leaves the editor.
 */

/** Private characters that no font and no program uses; each stands for the character with the rest of its number. */
const FIRST = 0x100000;

/** Control characters but line ends, and those that turn the direction of text around. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
const HELD = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

const STAND_INS =
  /[\u{100000}-\u{100009}\u{10000b}-\u{10001f}\u{10007f}-\u{10009f}\u{10061c}\u{10200e}\u{10200f}\u{10202a}-\u{10202e}\u{102066}-\u{102069}]/gu;

/** A text as the editor holds it, with each line end as `\n`. */
export function held(text: string): string {
  return text
    .replaceAll(/\r\n?/g, "\n")
    .replaceAll(HELD, (character) => String.fromCodePoint(FIRST + character.charCodeAt(0)));
}

/** The text that the editor holds, as it was written. */
export function asWritten(text: string): string {
  return text.replaceAll(STAND_INS, (standIn) => String.fromCharCode(codeOf(standIn)));
}

/** A line of the editor as it is drawn: `→` for a tab, `␛` for Esc and so on. */
export function drawn(line: string): string {
  return line.replaceAll(STAND_INS, (standIn) => {
    const code = codeOf(standIn);
    if (code === 0x09) return "→";
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? "␡" : "\ufffd";
  });
}

function codeOf(standIn: string): number {
  return (standIn.codePointAt(0) ?? FIRST) - FIRST;
}
