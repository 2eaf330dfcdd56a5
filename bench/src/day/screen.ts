import { setTimeout as sleep } from "node:timers/promises";
import xterm from "@xterm/headless";
import { type Place, PseudoTerminal } from "../pseudo-terminal.ts";

/** Some programs show diffs side by side from 110 columns on. */
const COLUMNS = 120;
const ROWS = 40;
/** Milliseconds between two keys: faster than a user, but slow enough not to look like a paste. */
const PACE = 60;
/** Milliseconds to wait for a text. */
const PATIENCE = 30_000;

/** The names of keys in `<...>`. */
const KEYS: Readonly<Record<string, string>> = {
  Enter: "\r",
  Esc: "\x1b",
  Tab: "\t",
  "S-Tab": "\x1b[Z",
  "A-Enter": "\x1b\r",
  Up: "\x1b[A",
  Down: "\x1b[B",
  Right: "\x1b[C",
  Left: "\x1b[D",
  PageUp: "\x1b[5~",
  PageDown: "\x1b[6~",
  Home: "\x1b[H",
  End: "\x1b[F",
  Backspace: "\x7f",
};

/**
 * Returns the keys of a line such as `/model<Enter>` as the terminal sends them. `<C-x>` is Ctrl+x; `<paste:...>` is
 * pasted text, which counts as one key.
 */
export function keysOf(line: string): readonly string[] {
  return (line.match(/<[^<>]+>|[^<]/gu) ?? []).map((key) => {
    const [, name] = /^<(.+)>$/u.exec(key) ?? [];
    if (name === undefined) return key;
    if (name.startsWith("paste:")) return `\x1b[200~${name.slice("paste:".length)}\x1b[201~`;
    if (name.startsWith("C-")) return String.fromCharCode(name.charCodeAt(2) & 31);
    const sent = KEYS[name];
    if (sent === undefined) throw new Error(`There is no key <${name}>.`);
    return sent;
  });
}

/** A program in a pseudo-terminal, and its visible screen. */
export class Screen implements Disposable {
  readonly #terminal: PseudoTerminal;
  readonly #drawn: InstanceType<typeof xterm.Terminal>;
  #look = () => {};

  private constructor(terminal: PseudoTerminal) {
    this.#terminal = terminal;
    this.#drawn = new xterm.Terminal({ cols: COLUMNS, rows: ROWS, scrollback: 5000, allowProposedApi: true });
    terminal.watch((text) => this.#drawn.write(text, () => this.#look()));
  }

  static async start(words: readonly string[], place: Place): Promise<Screen> {
    return new Screen(await PseudoTerminal.start(words, place, COLUMNS));
  }

  /** The text of the screen, with the lines that scrolled off. */
  get text(): string {
    const { active } = this.#drawn.buffer;
    const lines = Array.from({ length: active.length }, (_, row) => active.getLine(row)?.translateToString(true) ?? "");
    return lines.join("\n").trimEnd();
  }

  /** Presses the keys of a line in order. Returns their number. */
  async press(line: string): Promise<number> {
    const keys = keysOf(line);
    for (const [index, key] of keys.entries()) {
      // Pause longer before a special key, like a user: without the pause, programs take it for a part of a paste.
      if (index > 0) await sleep(key.length > 1 || key < " " ? 4 * PACE : PACE);
      this.#terminal.press(key);
    }
    return keys.length;
  }

  /** Resolves when the screen contains a text `times` times. Rejects with the screen's content after half a minute. */
  shows(what: RegExp, times = 1): Promise<void> {
    const every = new RegExp(what, `g${what.flags.replace("g", "")}`);
    return this.until(`${what} ${times} times`, (text) => (text.match(every)?.length ?? 0) >= times);
  }

  /** Resolves when the screen's content fulfils a condition. Rejects with the content after half a minute. */
  async until(what: string, isSo: (text: string) => boolean): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const patience = setTimeout(() => {
      const shown = this.text.split("\n").slice(-ROWS).join("\n");
      reject(new Error(`It did not show ${what}, but:\n${shown}`));
    }, PATIENCE);
    this.#look = () => {
      if (isSo(this.text)) resolve();
    };
    this.#look();
    try {
      await promise;
    } finally {
      clearTimeout(patience);
      this.#look = () => {};
    }
  }

  /** Presses the keys that end the program, and waits for its end. */
  async leave(line: string): Promise<void> {
    await this.press(line);
    await this.#terminal.ended;
    this[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.#terminal[Symbol.dispose]();
    this.#drawn.dispose();
  }
}
