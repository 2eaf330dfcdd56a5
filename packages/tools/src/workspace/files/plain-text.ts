import { shownPath } from "./named-path.ts";

/**
 * The escape sequences of ECMA-48, 7-bit and 8-bit: control sequences (colours, cursor), control strings (titles, links,
 * clipboard) with any payload, and short escapes. `util.stripVTControlCharacters` leaves payloads that it does not
 * expect. No sequence contains the beginning of
 * another, so that the search takes linear time on any text.
 */
export const SEQUENCE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90-\x9f]*(?:\x07|\x9c|\x1b\\)|\x1b[ -/]*[0-~]/g;

/** The beginning of a sequence, or of a line end, that the next piece of text may complete. */
export const UNFINISHED =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
  /(?:(?:\x1b\[|\x9b)[0-?]*[ -/]*|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90-\x9f]*\x1b?|\x1b[ -/]*|\r)$/;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
const ANY_CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/;

/** A sequence that is longer than this is not waited for. */
export const LONGEST_SEQUENCE = 4096;

/**
 * Makes plain text of what a program wrote for a terminal (S12): without escape sequences and control characters, with
 * line ends as `\n`. A carriage return alone, as progress bars use it, ends a line too.
 */
export function stripControls(text: string): string {
  if (!ANY_CONTROL.test(text)) return text;
  return text.replace(SEQUENCE, "").replace(/\r\n?/g, "\n").replace(CONTROL, "");
}

/** Strips a stream of text; a sequence may be cut anywhere between two pieces. */
export class ControlStripper {
  #held = "";

  /** The plain text that is certain so far. */
  push(text: string): string {
    const all = this.#held + text;
    this.#held = "";
    if (!ANY_CONTROL.test(all)) return all;
    const open = UNFINISHED.exec(all);
    if (open === null || all.length - open.index > LONGEST_SEQUENCE) return stripControls(all);
    this.#held = all.slice(open.index);
    return stripControls(all.slice(0, open.index));
  }

  /** What was still held back. */
  end(): string {
    return stripControls(this.#held);
  }
}

/** Shows control characters as their pictures (`␛` for ESC), so that text from a file is data on any terminal (S12). */
export function showControls(text: string): string {
  if (!ANY_CONTROL.test(text)) return text;
  return text.replace(CONTROL, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? "\u2421" : `\\u{${code.toString(16)}}`;
  });
}

/** The same for text that must stay on one line: line ends and tabs become pictures too. */
export function showOnOneLine(text: string): string {
  return showControls(text).replaceAll("\n", "\u240a").replaceAll("\t", "\u2409");
}

const MOST_NAMES = 5;

/** Some of many names, each on one line: `a, b and 3 more`. */
export function namesOf(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMES).map(shownPath).join(", ");
  return names.length > MOST_NAMES ? `${shown} and ${names.length - MOST_NAMES} more` : shown;
}
