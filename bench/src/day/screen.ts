import { setTimeout as sleep } from "node:timers/promises";
import xterm from "@xterm/headless";
import { type Place, PseudoTerminal } from "../pseudo-terminal.ts";

/** Some show differences from 110 columns on. */
const COLUMNS = 120;
const ROWS = 40;
/** Milliseconds between two keys: faster than a person, and slow enough not to be taken for something pasted. */
const PACE = 60;
/** Milliseconds to wait for something. */
const PATIENCE = 30_000;

/** What is written for keys in `<...>`. */
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
 * The keys of a line such as `/model<Enter>`, each as the terminal sends it. `<C-x>` is x with Ctrl, `<paste:...>` what is
 * pasted, which is one key.
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

/** A program in a pseudo-terminal, and what a person sees of it. */
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

  /** What is on the screen, with what has gone out of it upwards. */
  get text(): string {
    const { active } = this.#drawn.buffer;
    const lines = Array.from({ length: active.length }, (_, row) => active.getLine(row)?.translateToString(true) ?? "");
    return lines.join("\n").trimEnd();
  }

  /** Presses the keys of a line, one after the other; answers how many they were. */
  async press(line: string): Promise<number> {
    const keys = keysOf(line);
    for (const [index, key] of keys.entries()) {
      // A key that ends what was typed comes later, as it does from people: else it is taken for a part of something pasted.
      if (index > 0) await sleep(key.length > 1 || key < " " ? 4 * PACE : PACE);
      this.#terminal.press(key);
    }
    return keys.length;
  }

  /** Resolves when the screen shows something so often. Rejects, with what it shows instead, after half a minute. */
  shows(what: RegExp, times = 1): Promise<void> {
    const every = new RegExp(what, `g${what.flags.replace("g", "")}`);
    return this.until(`${what} ${times} times`, (text) => (text.match(every)?.length ?? 0) >= times);
  }

  /** Resolves when what the screen shows is so. Rejects, with what it shows instead, after half a minute. */
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

  /** Presses the keys that end the program, and waits until it has. */
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
