/*
 * Encodes a text for the prompt editor (T62). The editor's library would replace tabs and drop control characters,
 * and a terminal would obey them. The editor therefore holds a private character for each of them. It is drawn as a
 * sign of one column, and decoded when the text leaves the editor.
 */

/** First of the private characters, which no font and no program uses; each encodes the character at its offset. */
const FIRST = 0x100000;

/** Control characters except line ends, and characters that change the text direction. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
const HELD = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

const STAND_INS =
  /[\u{100000}-\u{100009}\u{10000b}-\u{10001f}\u{10007f}-\u{10009f}\u{10061c}\u{10200e}\u{10200f}\u{10202a}-\u{10202e}\u{102066}-\u{102069}]/gu;

/** Encodes a text for the prompt editor: control characters become private characters of one column (T62). */
export function toHeldText(text: string): string {
  return text
    .replaceAll(/\r\n?/g, "\n")
    .replaceAll(HELD, (character) => String.fromCodePoint(FIRST + character.charCodeAt(0)));
}

/** Decodes the text of the prompt editor: the inverse of `toHeldText`. */
export function fromHeldText(text: string): string {
  return text.replaceAll(STAND_INS, (standIn) => String.fromCharCode(standInIndex(standIn)));
}

/** Converts a line of the prompt editor for the screen: `→` for a tab, `␛` for Esc and so on. */
export function drawHeldLine(line: string): string {
  return line.replaceAll(STAND_INS, (standIn) => {
    const code = standInIndex(standIn);
    if (code === 0x09) return "→";
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? "␡" : "\ufffd";
  });
}

function standInIndex(standIn: string): number {
  return (standIn.codePointAt(0) ?? FIRST) - FIRST;
}
