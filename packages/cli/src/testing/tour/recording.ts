import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import xterm from "@xterm/headless";
import { lookOf, type Run, type Still } from "./still.ts";

/** Milliseconds for output to appear. */
const PATIENCE = 60_000;
/** Milliseconds between two checks for new output. */
const LOOK = 15;
/** Maximum milliseconds of a recorded pause without reading time. */
const LONGEST_PAUSE = 110;
/** Minimum milliseconds of a frame; output within that time joins the next frame. */
const SHORTEST = 80;

/** Command and terminal of a recording. */
export interface RecordingOptions {
  readonly columns: number;
  readonly rows: number;
  /** An own folder for tmux's files. */
  readonly folder: string;
  /** All environment variables of the command except `TERM`. */
  readonly env: Readonly<Record<string, string>>;
  readonly command: readonly string[];
}

/** Length of the output at a moment, and reading time in milliseconds. */
interface Mark {
  readonly at: number;
  readonly length: number;
  readonly hold: number;
}

/**
 * A command in a real terminal (tmux) with its timed output. Frames are rendered from the output. Only pauses change:
 * shorter, or longer for reading.
 */
export class Recording implements Disposable {
  readonly #options: RecordingOptions;
  readonly #socket: string;
  readonly #raw: string;
  readonly #marks: Mark[] = [];
  readonly #looking: NodeJS.Timeout;

  constructor(options: RecordingOptions) {
    this.#options = options;
    const { folder, columns, rows, env, command } = options;
    this.#socket = join(folder, "tmux");
    this.#raw = join(folder, "bytes");
    const gate = join(folder, "gate");
    writeFileSync(this.#raw, "");
    const variables = Object.entries(env).map(([name, value]) => quoted(`${name}=${value}`));
    const run = ["env -i", 'TERM="$TERM"', ...variables, ...command.map(quoted)].join(" ");
    const script = `until [ -e ${quoted(gate)} ]; do sleep 0.02; done; ${run}; exec sleep 1000`;
    this.#tmux("-f", "/dev/null", "new-session", "-d", "-x", String(columns), "-y", String(rows), script);
    this.#tmux("pipe-pane", "-O", `cat > ${quoted(this.#raw)}`);
    writeFileSync(gate, "");
    this.#looking = setInterval(() => this.#look(0), LOOK);
  }

  /** Types text key by key. */
  async type(text: string): Promise<void> {
    for (const key of text) {
      this.#tmux("send-keys", "-l", key);
      await sleep(40);
    }
  }

  /** Presses a key by its tmux name. */
  press(key: string): void {
    this.#tmux("send-keys", key);
  }

  /** Waits until the screen matches. */
  async until(shown: RegExp): Promise<void> {
    for (const end = Date.now() + PATIENCE; ; await sleep(30)) {
      const screen = this.#tmux("capture-pane", "-p");
      if (shown.test(screen)) return;
      if (Date.now() > end) throw new Error(`${shown} was never shown:\n${screen}`);
    }
  }

  /** Adds reading time for the present screen, in milliseconds. */
  async hold(milliseconds: number): Promise<void> {
    await sleep(4 * LOOK);
    this.#look(milliseconds);
  }

  /** The frames from the first `hold` on. */
  async stills(): Promise<Still[]> {
    const { columns, rows } = this.#options;
    const bytes = readFileSync(this.#raw);
    const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
    const stills: Still[] = [];
    const first = this.#marks.findIndex(({ hold }) => hold > 0);
    let [shown, at] = [0, 0];
    for (const [index, mark] of this.#marks.entries()) {
      // Stop at the end of a complete frame.
      const end = Math.max(shown, bytes.subarray(0, mark.length).lastIndexOf("\x1b[?2026l"));
      const piece = bytes.subarray(shown, end);
      shown = end;
      await new Promise<void>((resolve) => terminal.write(piece, resolve));
      if (index < first) continue;
      const last = this.#marks[index - 1];
      if (index > first) at += Math.min(LONGEST_PAUSE, mark.at - (last?.at ?? mark.at));
      const previous = stills.at(-1);
      if (previous && at - previous.at < SHORTEST && mark.hold === 0) continue;
      const isHidden = bytes.lastIndexOf("\x1b[?25l", end) > bytes.lastIndexOf("\x1b[?25h", end);
      const still = stillOf(terminal, at, !isHidden);
      if (JSON.stringify({ ...still, at: 0 }) !== JSON.stringify({ ...previous, at: 0 })) stills.push(still);
      at += mark.hold;
    }
    terminal.dispose();
    return stills;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#looking);
    spawnSync("tmux", ["-S", this.#socket, "kill-server"]);
  }

  #look(hold: number): void {
    const { length } = readFileSync(this.#raw);
    if (hold > 0 || length !== (this.#marks.at(-1)?.length ?? 0)) this.#marks.push({ at: Date.now(), length, hold });
  }

  #tmux(...args: readonly string[]): string {
    return execFileSync("tmux", ["-S", this.#socket, ...args], {
      encoding: "utf8",
      env: { ...process.env, SHELL: "/bin/sh" },
    });
  }
}

function stillOf(terminal: InstanceType<typeof xterm.Terminal>, at: number, hasCursor: boolean): Still {
  const { active } = terminal.buffer;
  const rows = Array.from({ length: terminal.rows }, (_, row) => {
    const line = active.getLine(active.baseY + row);
    const runs: Run[] = [];
    for (let column = 0; line && column < terminal.cols; column++) {
      const cell = line.getCell(column);
      if (!cell || cell.getWidth() === 0) continue;
      const [text, look] = [cell.getChars() || " ", lookOf(cell)];
      const last = runs.at(-1);
      const isSame = last && JSON.stringify(last.look) === JSON.stringify(look);
      if (isSame) runs[runs.length - 1] = { ...last, text: last.text + text, width: last.width + cell.getWidth() };
      else runs.push({ column, text, width: cell.getWidth(), look });
    }
    return runs.filter(({ text, look }) => text.trim() !== "" || look.background !== undefined);
  });
  return { at, rows, cursor: hasCursor ? { row: active.cursorY, column: active.cursorX } : undefined };
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
