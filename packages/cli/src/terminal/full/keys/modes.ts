const PASTES_ON = "\x1b[?2004h";
const PASTES_OFF = "\x1b[?2004l";
const FOCUS_ON = "\x1b[?1004h";
const FOCUS_OFF = "\x1b[?1004l";
/** Kitty's protocol with distinct keys (flag 1), then a query of its state, then a query that all terminals answer. */
const KITTY_ON = "\x1b[>1u\x1b[?u\x1b[c";
const KITTY_OFF = "\x1b[<u";
/** xterm's mode for distinct keys, for terminals without Kitty's protocol. */
const OTHER_KEYS_ON = "\x1b[>4;2m";
const OTHER_KEYS_OFF = "\x1b[>4;0m";
const CURSOR_ON = "\x1b[?25h";

/**
 * Switches terminal modes on and off: raw input, marked pastes, distinct keys, focus reports. Switches each mode off
 * only once (T31).
 */
export class Modes {
  readonly #input: NodeJS.ReadStream;
  readonly #output: NodeJS.WriteStream;
  #entered = false;
  #otherKeys = false;

  constructor(input: NodeJS.ReadStream, output: NodeJS.WriteStream) {
    this.#input = input;
    this.#output = output;
  }

  enter(): void {
    if (this.#entered) return;
    this.#entered = true;
    this.#input.setRawMode?.(true);
    this.#output.write(PASTES_ON + FOCUS_ON + KITTY_ON);
  }

  useOtherKeys(): void {
    if (!this.#entered || this.#otherKeys) return;
    this.#otherKeys = true;
    this.#output.write(OTHER_KEYS_ON);
  }

  leave(): void {
    if (!this.#entered) return;
    this.#entered = false;
    this.#output.write(KITTY_OFF + (this.#otherKeys ? OTHER_KEYS_OFF : "") + FOCUS_OFF + PASTES_OFF + CURSOR_ON);
    this.#otherKeys = false;
    this.#input.setRawMode?.(false);
  }
}
