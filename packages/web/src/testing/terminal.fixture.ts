import { execFileSync, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Program } from "./program.fixture.ts";

/** Milliseconds for text to appear on the screen. */
const PATIENCE = 30_000;

/** True if tmux is installed. */
export const hasTmux = spawnSync("tmux", ["-V"]).status === 0;

/** A command in a terminal of 160 columns by 50 rows, in its own tmux. */
export class OpenTerminal implements Disposable {
  readonly #name = `banyan-${randomUUID()}`;

  constructor(program: Program, ...args: readonly string[]) {
    const variables = Object.entries(program.env).map(([key, value]) => quoted(`${key}=${value}`));
    const line = ["env", "-i", 'TERM="$TERM"', ...variables, ...program.command(...args).map(quoted), "; sleep 1000"];
    const where = ["-d", "-x", "160", "-y", "50", "-c", program.workspace];
    this.#tmux("-f", "/dev/null", "new-session", ...where, line.join(" "));
  }

  /** Types a line and presses Enter. */
  enter(line: string): void {
    this.#tmux("send-keys", "-l", line);
    this.#tmux("send-keys", "Enter");
  }

  /** The whole output, with wrapped lines joined and without blanks at the ends of lines. */
  screen(): string {
    return this.#tmux("capture-pane", "-p", "-J", "-S", "-").replace(/ +$/gm, "").trimEnd();
  }

  /** Waits until the text has appeared `times` times. */
  async until(shown: string | RegExp, times = 1): Promise<void> {
    const pattern = new RegExp(typeof shown === "string" ? RegExp.escape(shown) : shown, "g");
    for (const end = Date.now() + PATIENCE; ; await sleep(50)) {
      const screen = this.screen();
      if ((screen.match(pattern)?.length ?? 0) >= times) return;
      if (Date.now() > end) throw new Error(`${pattern} is not shown ${times} times:\n${screen}`);
    }
  }

  [Symbol.dispose](): void {
    spawnSync("tmux", ["-L", this.#name, "kill-server"]);
  }

  #tmux(...args: readonly string[]): string {
    const env = { ...process.env, SHELL: "/bin/sh" };
    return execFileSync("tmux", ["-L", this.#name, ...args], { encoding: "utf8", env });
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
