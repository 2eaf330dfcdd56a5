import { StringDecoder } from "node:string_decoder";
import { decodeKittyPrintable, isKeyRelease, setKittyProtocolActive } from "@earendil-works/pi-tui/dist/keys.js";
import { StdinBuffer } from "@earendil-works/pi-tui/dist/stdin-buffer.js";
import type { Scheme } from "../theme/palette.ts";
import { schemeOfReply } from "../theme/terminal-colors.ts";

/** What hears of a keyboard. */
export interface KeyListener {
  /** A key, as the terminal sent it. */
  onKey(key: string): void;
  onPaste(text: string): void;
  /** The terminal has said what it is, and whether it knows Kitty's protocol for keys. */
  onTerminal(knowsKitty: boolean): void;
  onBackground(scheme: Scheme): void;
  /** The terminal has the focus now, or no longer. */
  onFocus(has: boolean): void;
}

/** Milliseconds after which Esc is a key, and not the beginning of another; longer where keys come over a network. */
const ESCAPE_TIME = 40;
const ESCAPE_TIME_REMOTE = 120;
/** The same for the rest of a sequence, and so for a terminal's answers. */
const SEQUENCE_TIME = 150;
/** Milliseconds that a terminal has to answer what it is. */
const ANSWER_TIME = 2_000;

/** Makes keys, pastes and answers of the bytes that a terminal sends. */
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

  /** Resolves when the terminal has said what it is, which it does after all other answers, or has had its time for that. */
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
    // How a key is read depends on it, and the library keeps it for all.
    setKittyProtocolActive(this.#knowsKitty);
    // Two presses of Esc may look like one key with Alt.
    for (const key of sequence === "\x1b\x1b" ? ["\x1b", "\x1b"] : [sequence]) this.#listener.onKey(key);
  }
}

const FOCUS_IN = "\x1b[I";
const FOCUS_OUT = "\x1b[O";
// biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal answers begins with Esc
const KITTY_FLAGS = /^\x1b\[\?(\d+)u$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal answers begins with Esc
const DEVICE = /^\x1b\[\?[\d;]*c$/;

/**
 * Whether a terminal marks pastes, as it is told to. Of these few it is known that they do not: what arrives from them at
 * once is a paste, when it has lines. From all others it was typed: by somebody fast, by a script, or while this was busy.
 */
export function marksPastes({ TERM = "", TMUX, STY }: NodeJS.ProcessEnv, platform = process.platform): boolean {
  if (TMUX) return true;
  return !(platform === "win32" || STY || /^(|dumb|linux|cygwin|(screen|rxvt|eterm|vt\d).*)$/.test(TERM));
}

/** Whether something follows a line end. One character may be the next key. */
function hasLines(text: string): boolean {
  return !text.includes("\x1b") && /[\r\n].*\P{Cc}.*\P{Cc}/su.test(text);
}

/** The character that a key stands for; nothing for keys that stand for none. */
export function characterOf(key: string): string | undefined {
  const decoded = decodeKittyPrintable(key);
  if (decoded !== undefined) return decoded;
  return /^[^\p{Cc}]+$/u.test(key) ? key : undefined;
}
