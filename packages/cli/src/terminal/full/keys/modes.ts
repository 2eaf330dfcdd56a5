const PASTES_ON = "\x1b[?2004h";
const PASTES_OFF = "\x1b[?2004l";
/** The terminal says whether it has the focus. */
const FOCUS_ON = "\x1b[?1004h";
const FOCUS_OFF = "\x1b[?1004l";
/** Kitty's protocol, so far that keys are told apart that else are one (flag 1); then: is it on? and, which all answer: what are you? */
const KITTY_ON = "\x1b[>1u\x1b[?u\x1b[c";
const KITTY_OFF = "\x1b[<u";
/** xterm's way to tell them apart, for terminals that do not know Kitty's. */
const OTHER_KEYS_ON = "\x1b[>4;2m";
const OTHER_KEYS_OFF = "\x1b[>4;0m";
const CURSOR_ON = "\x1b[?25h";

/**
 * The modes of a terminal that the full interface needs: raw keys, marked pastes, keys told apart, and whether it is looked at. Whatever is entered is
 * left again, once (T31).
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

  /** The terminal does not know Kitty's protocol. */
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
