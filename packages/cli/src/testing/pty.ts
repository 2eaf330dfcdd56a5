import { execFileSync, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Home, MAIN } from "./banyan.ts";

/** Whether there is a tmux to run the command in. */
export const hasTmux = spawnSync("tmux", ["-V"]).status === 0;

/** Milliseconds that something has to appear on a screen: on a machine that does much else, too. */
const PATIENCE = 60_000;

/** Milliseconds between two looks at a screen, where something is written, and where nothing is. */
const LOOK = 50;
const LONGEST_PAUSE = 1000;

/** What tells the command which terminal it is in. */
const OF_TMUX = ['TERM="$TERM"', 'TMUX="$TMUX"'];

/** The command in a real pseudo-terminal, 100 columns by 40 rows, kept by a tmux of its own. */
export class Pty implements Disposable {
  readonly #socket: string;
  readonly #raw: string;

  private constructor(socket: string, raw: string) {
    this.#socket = socket;
    this.#raw = raw;
  }

  static open(home: Home, args: readonly string[], env: Readonly<Record<string, string>> = {}): Pty {
    const name = `banyan-${randomUUID()}`;
    const pty = new Pty(name, join(home.workspace, "..", `${name}.raw`));
    const { TERM: _, ...own } = home.env;
    const variables = Object.entries({ ...own, ...env }).map(([key, value]) => quoted(`${key}=${value}`));
    const run = ["env", "-i", ...OF_TMUX, ...variables, ...[process.execPath, MAIN, ...args].map(quoted)].join(" ");
    // The pane stays when the command has ended, even by Ctrl-C, and begins when everything it writes is recorded.
    const gate = join(home.workspace, "..", `${name}.gate`);
    const script = `trap : INT; until [ -e ${quoted(gate)} ]; do sleep 0.02; done; ${run}; echo "[exit $?]"; exec sleep 1000`;
    const start = ["new-session", "-d", "-x", "100", "-y", "40", "-c", home.workspace, script];
    execFileSync("tmux", ["-L", name, "-f", "/dev/null", ...start], { env: { ...process.env, SHELL: "/bin/sh" } });
    pty.#tmux("pipe-pane", "-O", `cat > ${quoted(pty.#raw)}`);
    writeFileSync(gate, "");
    return pty;
  }

  /** A shell with job control, in which the command can be started by `start`. */
  static async shell(home: Home, env: Readonly<Record<string, string>> = {}): Promise<Pty> {
    const name = `banyan-${randomUUID()}`;
    const pty = new Pty(name, join(home.workspace, "..", `${name}.raw`));
    const { TERM: _, ...own } = home.env;
    const variables = Object.entries({ ...own, PS1: "shell> ", HISTFILE: "", ...env }).map(([key, value]) =>
      quoted(`${key}=${value}`),
    );
    const run = ["exec env -i", ...OF_TMUX, ...variables, "bash --norc --noprofile -i"].join(" ");
    const start = ["new-session", "-d", "-x", "100", "-y", "40", "-c", home.workspace, run];
    execFileSync("tmux", ["-L", name, "-f", "/dev/null", ...start], { env: { ...process.env, SHELL: "/bin/sh" } });
    pty.#tmux("pipe-pane", "-O", `cat > ${quoted(pty.#raw)}`);
    await pty.until("shell>");
    return pty;
  }

  /** Starts the command in a shell. */
  start(...args: readonly string[]): void {
    this.enter([process.execPath, MAIN, ...args].map(quoted).join(" "));
  }

  /** Types text as it is. */
  type(text: string): void {
    this.#tmux("send-keys", "-l", text);
  }

  /** Presses keys by their names: `Enter`, `C-c`, `Up`. */
  press(...keys: readonly string[]): void {
    this.#tmux("send-keys", ...keys);
  }

  /** Types a line and ends it. */
  enter(line: string): void {
    this.type(line);
    this.press("Enter");
  }

  /** Pastes text, marked as a paste if the command asked for marks. */
  paste(text: string, marked = true): void {
    // A buffer that is set on the command line cannot be long.
    execFileSync("tmux", ["-L", this.#socket, "load-buffer", "-"], { input: text });
    this.#tmux("paste-buffer", ...(marked ? ["-p", "-r"] : []));
  }

  /** What has been shown so far, lines that were broken at the edge as one. */
  screen(): string {
    return this.#tmux("capture-pane", "-p", "-J", "-S", "-").replace(/[ \n]+$/, "");
  }

  /** Waits until the command has written something, still in sight or not; returns every byte up to there, at the least. */
  async written(text: string): Promise<string> {
    return until(() => (existsSync(this.#raw) ? readFileSync(this.#raw, "utf8") : ""), text, 1);
  }

  /** Waits until something is shown `times` times, and returns the screen. */
  async until(shown: string | RegExp, times = 1): Promise<string> {
    const screen = await until(
      () => this.screen(),
      shown,
      times,
      () => this.#length,
    );
    // A frame may have been drawn by half.
    const whole = this.screen();
    return counted(whole, shown) >= times ? whole : screen;
  }

  /**
   * Waits for a prompt with nothing in it, while nothing runs: in plain lines the last line, else all but the status
   * below it.
   */
  async prompted(prompt = "Reply to banyan:"): Promise<string> {
    const name = RegExp.escape(prompt);
    const full = `─ ${name} ─+\n(?: *\n(?:chat|task) · [^\n]*)?`;
    return this.until(new RegExp(`^(?:${name}\\s*|${full})(?![\\s\\S])`));
  }

  /** Types a line, waits until something is shown, and then for the prompt. Returns the screen. */
  async exchange(line: string, shown: string | RegExp): Promise<string> {
    this.enter(line);
    await this.until(shown);
    return this.prompted();
  }

  /** Waits for a question that keys decide, until they are for it. */
  async asked(question = "Allow this?"): Promise<string> {
    return this.until(new RegExp(`^${RegExp.escape(question)}$`));
  }

  /** Answers a question with a word, and Enter. */
  async answers(word: string): Promise<void> {
    await this.hears(word);
    this.press("Enter");
  }

  /** Types a word as often as it takes until a question hears it. */
  async hears(word: string): Promise<void> {
    for (const end = Date.now() + PATIENCE; !this.screen().includes(`\n${word}\n`); await sleep(300)) {
      if (Date.now() > end) throw new Error(`The question does not hear ${word}:\n${this.screen()}`);
      this.type(word);
      await sleep(200);
    }
  }

  /** Gives the window another size. */
  resize(columns: number, rows: number): void {
    this.#tmux("resize-window", "-x", String(columns), "-y", String(rows));
  }

  /** Sends the command a signal. */
  kill(signal: NodeJS.Signals): void {
    const shell = this.#tmux("display-message", "-p", "#{pane_pid}").trim();
    const [child] = execFileSync("pgrep", ["-P", shell]).toString().trim().split("\n");
    process.kill(Number(child), signal);
  }

  [Symbol.dispose](): void {
    spawnSync("tmux", ["-L", this.#socket, "kill-server"]);
  }

  /** Bytes that the command has written so far. */
  get #length(): number {
    return statSync(this.#raw, { throwIfNoEntry: false })?.size ?? 0;
  }

  #tmux(...args: readonly string[]): string {
    return execFileSync("tmux", ["-L", this.#socket, ...args], { encoding: "utf8" });
  }
}

/** Looks when more has been written than at the last look, since a look starts a process; and now and then all the same. */
async function until(
  look: () => string,
  shown: string | RegExp,
  times: number,
  length = () => Number.NaN,
): Promise<string> {
  for (const end = Date.now() + PATIENCE; ; ) {
    const seen = length();
    const text = look();
    if (counted(text, shown) >= times) return text;
    if (Date.now() > end) throw new Error(`${shown} is not shown ${times} times:\n${text}`);
    const next = Date.now() + LONGEST_PAUSE;
    do await sleep(LOOK);
    while (length() === seen && Date.now() < next);
  }
}

function counted(text: string, shown: string | RegExp): number {
  const pattern = new RegExp(typeof shown === "string" ? RegExp.escape(shown) : shown, "gm");
  return text.match(pattern)?.length ?? 0;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
