import { execFileSync, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Home, MAIN } from "./banyan.ts";

/** True if tmux is installed. */
export const hasTmux = spawnSync("tmux", ["-V"]).status === 0;

/** Milliseconds for output to appear, also on a busy machine. */
const PATIENCE = 60_000;

/** Milliseconds between two checks of the screen: with new output, and at most without. */
const LOOK = 50;
const LONGEST_PAUSE = 1000;

/** Variables that identify the terminal to the command. */
const OF_TMUX = ['TERM="$TERM"', 'TMUX="$TMUX"'];

/** The command in a real pseudo-terminal of 100 columns and 40 rows, in its own tmux server. */
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
    // The pane stays after the command ends, even by Ctrl-C. The command starts once all its output is recorded.
    const gate = join(home.workspace, "..", `${name}.gate`);
    const script = `trap : INT; until [ -e ${quoted(gate)} ]; do sleep 0.02; done; ${run}; echo "[exit $?]"; exec sleep 1000`;
    const start = ["new-session", "-d", "-x", "100", "-y", "40", "-c", home.workspace, script];
    execFileSync("tmux", ["-L", name, "-f", "/dev/null", ...start], { env: { ...process.env, SHELL: "/bin/sh" } });
    pty.#tmux("pipe-pane", "-O", `cat > ${quoted(pty.#raw)}`);
    writeFileSync(gate, "");
    return pty;
  }

  /** A shell with job control, in which `start` runs the command. */
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

  /** Runs the command in the shell. */
  start(...args: readonly string[]): void {
    this.enter([process.execPath, MAIN, ...args].map(quoted).join(" "));
  }

  /** Types text literally. */
  type(text: string): void {
    this.#tmux("send-keys", "-l", text);
  }

  /** Presses keys by their tmux names: `Enter`, `C-c`, `Up`. */
  press(...keys: readonly string[]): void {
    this.#tmux("send-keys", ...keys);
  }

  /** Types a line and presses Enter. */
  enter(line: string): void {
    this.type(line);
    this.press("Enter");
  }

  /** Pastes text. `marked`: as a marked paste if the command asked for marks. */
  paste(text: string, marked = true): void {
    // A buffer from the command line is limited in length.
    execFileSync("tmux", ["-L", this.#socket, "load-buffer", "-"], { input: text });
    this.#tmux("paste-buffer", ...(marked ? ["-p", "-r"] : []));
  }

  /** The screen and its scrollback, with wrapped lines joined and without blanks at the ends of lines. */
  screen(): string {
    return this.#tmux("capture-pane", "-p", "-J", "-S", "-").replace(/ +$/gm, "").trimEnd();
  }

  /** Waits until the command has written a text, visible or not. Returns all bytes so far. */
  async written(text: string): Promise<string> {
    return until(() => (existsSync(this.#raw) ? readFileSync(this.#raw, "utf8") : ""), text, 1);
  }

  /** Waits until a text is shown `times` times. Returns the screen. */
  async until(shown: string | RegExp, times = 1): Promise<string> {
    const screen = await until(
      () => this.screen(),
      shown,
      times,
      () => this.#length,
    );
    // The first screen may contain half a frame.
    const whole = this.screen();
    return counted(whole, shown) >= times ? whole : screen;
  }

  /**
   * Waits for an empty prompt without a running turn: at the end of the screen, or above the status line on a full
   * terminal.
   */
  async prompted(prompt = "Reply to banyan:"): Promise<string> {
    // On a branch with a worktree, the prompt begins with its name.
    const name = `(?:\\([^)\n]+\\) )?${RegExp.escape(prompt)}`;
    const full = `─ ${name} ─+\n(?: *\n(?:chat|task) · [^\n]*)?`;
    return this.until(new RegExp(`^(?:${name}\\s*|${full})(?![\\s\\S])`));
  }

  /** Types a line, waits for a text, and then for the prompt. Returns the screen. */
  async exchange(line: string, shown: string | RegExp): Promise<string> {
    this.enter(line);
    await this.until(shown);
    return this.prompted();
  }

  /** Waits for a question until it accepts keys. */
  async asked(question = "Allow this?"): Promise<string> {
    return this.until(new RegExp(`^${RegExp.escape(question)}$`));
  }

  /** Answers a question with a word and Enter. */
  async answers(word: string): Promise<void> {
    await this.hears(word);
    this.press("Enter");
  }

  /** Begins the answer to a question with Enter, and types a word. */
  async hears(word: string): Promise<void> {
    await this.begins();
    this.type(word);
    await this.until(word);
  }

  /** Presses Enter until a question takes text. */
  async begins(): Promise<void> {
    for (const end = Date.now() + PATIENCE; !/^Enter answers/m.test(this.screen()); await sleep(400)) {
      if (Date.now() > end) throw new Error(`The question hears no Enter:\n${this.screen()}`);
      this.press("Enter");
      await sleep(100);
    }
  }

  /** Resizes the window. */
  resize(columns: number, rows: number): void {
    this.#tmux("resize-window", "-x", String(columns), "-y", String(rows));
  }

  /** Sends a signal to the command. */
  kill(signal: NodeJS.Signals): void {
    const shell = this.#tmux("display-message", "-p", "#{pane_pid}").trim();
    const [child] = execFileSync("pgrep", ["-P", shell]).toString().trim().split("\n");
    process.kill(Number(child), signal);
  }

  [Symbol.dispose](): void {
    spawnSync("tmux", ["-L", this.#socket, "kill-server"]);
  }

  /** Bytes that the command has written. */
  get #length(): number {
    return statSync(this.#raw, { throwIfNoEntry: false })?.size ?? 0;
  }

  #tmux(...args: readonly string[]): string {
    return execFileSync("tmux", ["-L", this.#socket, ...args], { encoding: "utf8" });
  }
}

/** Checks the screen after new output, because a check starts a process; and now and then without output. */
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
