import { shownPath } from "./named-path.ts";

/**
 * Matches the escape sequences of ECMA-48, 7-bit and 8-bit: control sequences (for colours or the cursor), control
 * strings (for titles or links) with any payload, and short escapes. `util.stripVTControlCharacters` keeps payloads
 * that it does not expect. No sequence contains the beginning of another, so the search takes linear time on any text.
 */
export const SEQUENCE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90-\x9f]*(?:\x07|\x9c|\x1b\\)|\x1b[ -/]*[0-~]/g;

/** Matches the beginning of an escape sequence or line end that the next piece of text may complete. */
export const UNFINISHED =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
  /(?:(?:\x1b\[|\x9b)[0-?]*[ -/]*|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90-\x9f]*\x1b?|\x1b[ -/]*|\r)$/;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
const ANY_CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/;

/** Maximum length of an escape sequence whose end may still arrive, in UTF-16 units. */
export const LONGEST_SEQUENCE = 4096;

/**
 * Converts terminal output to plain text (S12): removes escape sequences and control characters, and converts line ends
 * to `\n`. A carriage return alone, as in progress bars, ends a line too.
 */
export function stripControls(text: string): string {
  if (!ANY_CONTROL.test(text)) return text;
  return text.replace(SEQUENCE, "").replace(/\r\n?/g, "\n").replace(CONTROL, "");
}

/** Converts a stream of terminal output to plain text. A piece may end inside a sequence. */
export class ControlStripper {
  #held = "";

  push(text: string): string {
    const all = this.#held + text;
    this.#held = "";
    if (!ANY_CONTROL.test(all)) return all;
    const open = UNFINISHED.exec(all);
    if (open === null || all.length - open.index > LONGEST_SEQUENCE) return stripControls(all);
    this.#held = all.slice(open.index);
    return stripControls(all.slice(0, open.index));
  }

  end(): string {
    return stripControls(this.#held);
  }
}

/** Replaces control characters by visible symbols (`␛` for ESC), so that file content is harmless on any terminal (S12). */
export function showControls(text: string): string {
  if (!ANY_CONTROL.test(text)) return text;
  return text.replace(CONTROL, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? "\u2421" : `\\u{${code.toString(16)}}`;
  });
}

/** Like `showControls`, for text on one line: line ends and tabs become symbols too. */
export function showOnOneLine(text: string): string {
  return showControls(text).replaceAll("\n", "\u240a").replaceAll("\t", "\u2409");
}

const MOST_NAMES = 5;

/** Lists the first names and the number of others, such as `a, b and 3 more`, on one line. */
export function shortNameList(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMES).map(shownPath).join(", ");
  return names.length > MOST_NAMES ? `${shown} and ${names.length - MOST_NAMES} more` : shown;
}
