import { type ChildProcessByStdio, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

/** Printed when the program starts; earlier output is not the program's. */
const BEGUN = "begun\r\n";

/** Milliseconds to wait for a text. */
const PATIENCE = 60_000;

/** Milliseconds for a program to exit, and between two checks. */
const LINGER = 5_000;
const LOOK = 20;

/** Queries of programs to a terminal, with answers: some programs wait for the answers before they start. */
const ANSWERS: readonly (readonly [asked: string, answer: string])[] = [
  ["\x1b[6n", "\x1b[1;1R"],
  ["\x1b[c", "\x1b[?62;22c"],
  ["\x1b[?u", "\x1b[?0u"],
  ["\x1b]10;?", "\x1b]10;rgb:0000/0000/0000\x1b\\"],
  ["\x1b]11;?", "\x1b]11;rgb:ffff/ffff/ffff\x1b\\"],
];

/** The surroundings of a program. */
export interface Place {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

/** A program in its own terminal of 40 rows, by default 100 columns, created by `script` of util-linux. */
export class PseudoTerminal implements Disposable, AsyncDisposable {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  #shown = "";
  #look = () => {};
  #watch: (text: string) => void = () => {};

  private constructor(words: readonly string[], place: Place, columns: number) {
    const command = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
    // Without echo: an echo would not show whether the program reads the keys.
    const line = `stty -echo cols ${columns} rows 40; echo begun; exec ${command}`;
    this.#child = spawn("script", ["-qefc", line, "/dev/null"], { ...place, stdio: ["pipe", "pipe", "inherit"] });
    // An ended program reads nothing: the waiting caller reports the end.
    this.#child.stdin.on("error", () => {});
    this.#child.stdout.setEncoding("utf8").on("data", (text: string) => {
      this.#shown += text;
      for (const [asked, answer] of ANSWERS) if (text.includes(asked)) this.press(answer);
      this.#watch(text);
      this.#look();
    });
  }

  /** Resolves when the program starts. */
  static async start(words: readonly string[], place: Place, columns = 100): Promise<PseudoTerminal> {
    const terminal = new PseudoTerminal(words, place, columns);
    await terminal.shows(BEGUN);
    terminal.#shown = terminal.#shown.slice(terminal.#shown.indexOf(BEGUN) + BEGUN.length);
    return terminal;
  }

  /** Calls back with the output so far, and with all further output. */
  watch(watch: (text: string) => void): void {
    this.#watch = watch;
    watch(this.#shown);
  }

  press(keys: string): void {
    this.#child.stdin.write(keys);
  }

  /** Resolves when a text was shown more than `times - 1` times. Rejects if the program ends first, and after a minute. */
  async shows(text: string, times = 1): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const give = (reason: string) =>
      reject(new Error(`${reason} before it showed ${JSON.stringify(text)}. At last: ${this.#shown.slice(-500)}`));
    const patience = setTimeout(give, PATIENCE, "A minute passed");
    const ended = () => give("The program ended");
    this.#child.once("close", ended);
    this.#look = () => {
      if (this.#shown.split(text).length > times) resolve();
    };
    this.#look();
    try {
      await promise;
    } finally {
      clearTimeout(patience);
      this.#child.off("close", ended);
      this.#look = () => {};
    }
  }

  /** Resolves when the program has ended. */
  get ended(): Promise<void> {
    const child = this.#child;
    const isOver = child.exitCode !== null || child.signalCode !== null;
    return isOver ? Promise.resolve() : new Promise((resolve) => child.once("close", () => resolve()));
  }

  /** The process id of the program. Linux only. */
  get process(): number {
    const children = readFileSync(`/proc/${this.#child.pid}/task/${this.#child.pid}/children`, "utf8");
    return Number.parseInt(children, 10);
  }

  [Symbol.dispose](): void {
    this.#child.kill("SIGKILL");
  }

  /** Closes the terminal, and resolves when the program is gone, so that its exit does not affect the next measurement. */
  async [Symbol.asyncDispose](): Promise<void> {
    const program = this.process;
    this[Symbol.dispose]();
    for (let waited = 0; isThere(program); waited += LOOK) {
      if (waited > LINGER) process.kill(program, "SIGKILL");
      await sleep(LOOK);
    }
  }
}

function isThere(program: number): boolean {
  try {
    return !Number.isNaN(program) && process.kill(program, 0);
  } catch {
    return false;
  }
}
