import { execFileSync, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import type { Program } from "./program.fixture.ts";

/** Whether there is a tmux to keep a terminal. */
export const hasTmux = spawnSync("tmux", ["-V"]).status === 0;

/** A command in a terminal of 160 columns by 50 rows, kept by a tmux of its own. */
export class OpenTerminal implements Disposable {
  readonly #name = `banyan-${randomUUID()}`;

  constructor(program: Program, ...args: readonly string[]) {
    const variables = Object.entries(program.env).map(([key, value]) => quoted(`${key}=${value}`));
    const line = ["env", "-i", 'TERM="$TERM"', ...variables, ...program.command(...args).map(quoted), "; sleep 1000"];
    const where = ["-d", "-x", "160", "-y", "50", "-c", program.workspace];
    this.#tmux("-f", "/dev/null", "new-session", ...where, line.join(" "));
  }

  /** Types a line and ends it. */
  enter(line: string): void {
    this.#tmux("send-keys", "-l", line);
    this.#tmux("send-keys", "Enter");
  }

  /** Everything that has been shown, lines that were broken at the edge as one. */
  screen(): string {
    return this.#tmux("capture-pane", "-p", "-J", "-S", "-").replace(/[ \n]+$/, "");
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
