import { StringDecoder } from "node:string_decoder";
import { decodeKittyPrintable, isKeyRelease, setKittyProtocolActive } from "@earendil-works/pi-tui/dist/keys.js";
import { StdinBuffer } from "@earendil-works/pi-tui/dist/stdin-buffer.js";
import type { Scheme } from "../theme/terminal-colors.ts";
import { schemeOfReply } from "../theme/terminal-colors.ts";

/** Receives the input of a keyboard. */
export interface KeyListener {
  onKey(key: string): void;
  onPaste(text: string): void;
  /** The terminal has identified itself. `knowsKitty`: it supports Kitty's keyboard protocol. */
  onTerminal(knowsKitty: boolean): void;
  onBackground(scheme: Scheme): void;
  onFocus(has: boolean): void;
}

/** Milliseconds after which Esc is a key, not the start of a sequence; longer over a network. */
const ESCAPE_TIME = 40;
const ESCAPE_TIME_REMOTE = 120;
/** Milliseconds to wait for the rest of a sequence, such as a terminal's reply. */
const SEQUENCE_TIME = 150;
/** Milliseconds to wait for the terminal's identification. */
const ANSWER_TIME = 2_000;

/** Splits a terminal's bytes into keys, pastes and replies. */
export class Keyboard {
  readonly #input: NodeJS.ReadStream;
  readonly #listener: KeyListener;
  readonly #sequences: StdinBuffer;
  #decoder = new StringDecoder("utf8");
  #marksPastes: boolean;
  #knowsKitty = false;
  #answered = Promise.withResolvers<void>();
  #answerTime: NodeJS.Timeout | undefined;

  constructor(input: NodeJS.ReadStream, listener: KeyListener, env: NodeJS.ProcessEnv) {
    this.#input = input;
    this.#listener = listener;
    const escapeTimeout = env.SSH_CONNECTION || env.SSH_TTY ? ESCAPE_TIME_REMOTE : ESCAPE_TIME;
    this.#sequences = new StdinBuffer({ escapeTimeout, timeout: SEQUENCE_TIME });
    this.#sequences.on("data", (sequence) => this.#sequence(sequence));
    this.#sequences.on("paste", (text) => {
      this.#marksPastes = true;
      listener.onPaste(text);
    });
    this.#marksPastes = marksPastes(env);
  }

  /** Resolves when the terminal has identified itself (its last reply), or the time for that is over. */
  get answered(): Promise<void> {
    return this.#answered.promise;
  }

  start(): void {
    this.#input.on("data", this.#data);
    this.#input.resume();
    this.#answerTime = setTimeout(this.#answered.resolve, ANSWER_TIME).unref();
  }

  stop(): void {
    this.#input.off("data", this.#data);
    this.#input.pause();
    clearTimeout(this.#answerTime);
    this.#sequences.clear();
    this.#decoder = new StringDecoder("utf8");
    this.#knowsKitty = false;
    this.#answered.resolve();
    this.#answered = Promise.withResolvers();
  }

  readonly #data = (data: Buffer | string): void => {
    const text = typeof data === "string" ? data : this.#decoder.write(data);
    if (!this.#marksPastes && hasLines(text)) this.#listener.onPaste(text);
    else if (text !== "") this.#sequences.process(text);
  };

  #sequence(sequence: string): void {
    const [, flags] = KITTY_FLAGS.exec(sequence) ?? [];
    if (flags !== undefined) {
      this.#knowsKitty = flags !== "0";
      return;
    }
    if (DEVICE.test(sequence)) {
      this.#answered.resolve();
      return this.#listener.onTerminal(this.#knowsKitty);
    }
    const scheme = schemeOfReply(sequence);
    if (scheme) return this.#listener.onBackground(scheme);
    if (sequence === FOCUS_IN || sequence === FOCUS_OUT) return this.#listener.onFocus(sequence === FOCUS_IN);
    if (isKeyRelease(sequence)) return;
    // The library keeps this flag globally, and decodes keys by it.
    setKittyProtocolActive(this.#knowsKitty);
    // Pressing Esc twice may look like one key with Alt.
    for (const key of sequence === "\x1b\x1b" ? ["\x1b", "\x1b"] : [sequence]) this.#listener.onKey(key);
  }
}

const FOCUS_IN = "\x1b[I";
const FOCUS_OUT = "\x1b[O";
// biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal answers begins with Esc
const KITTY_FLAGS = /^\x1b\[\?(\d+)u$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal answers begins with Esc
const DEVICE = /^\x1b\[\?[\d;]*c$/;

/** Returns whether a terminal marks pastes on request. Without marks, lines that arrive together count as a paste. */
export function marksPastes({ TERM = "", TMUX, STY }: NodeJS.ProcessEnv, platform = process.platform): boolean {
  if (TMUX) return true;
  return !(platform === "win32" || STY || /^(|dumb|linux|cygwin|(screen|rxvt|eterm|vt\d).*)$/.test(TERM));
}

/** Returns whether a line end is followed by more than one character, which could be the next key. */
function hasLines(text: string): boolean {
  return !text.includes("\x1b") && /[\r\n].*\P{Cc}.*\P{Cc}/su.test(text);
}

/** Returns the character of a key. Undefined for other keys. */
export function characterOf(key: string): string | undefined {
  const decoded = decodeKittyPrintable(key);
  if (decoded !== undefined) return decoded;
  return /^[^\p{Cc}]+$/u.test(key) ? key : undefined;
}
