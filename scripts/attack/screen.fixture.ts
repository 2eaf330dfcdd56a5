import { execFileSync, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { NotTried, type Place } from "./attack.ts";

const MAIN = fileURLToPath(new URL("../../packages/cli/src/main.ts", import.meta.url));

/** The command in a real terminal of 100 columns and 50 rows, until the attempt ends. */
export class AttackedScreen {
  readonly #name = `banyan-attack-${randomUUID()}`;

  constructor(place: Place, args: readonly string[], env: Readonly<Record<string, string>>) {
    if (spawnSync("tmux", ["-V"]).status !== 0) throw new NotTried("there is no tmux to run the command in");
    const { TERM: _, ...own } = place.env;
    const variables = Object.entries({ ...own, ...env }).map(([name, value]) => quoted(`${name}=${value}`));
    const command = [process.execPath, MAIN, ...args].map(quoted).join(" ");
    const script = `env -i TERM="$TERM" ${variables.join(" ")} ${command}; exec sleep 1000`;
    this.#tmux("-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "50", "-c", place.folder, script);
    place.defer(() => spawnSync("tmux", ["-L", this.#name, "kill-server"]));
  }

  enter(line: string): void {
    this.#tmux("send-keys", "-l", line);
    this.#tmux("send-keys", "Enter");
  }

  press(key: string): void {
    this.#tmux("send-keys", key);
  }

  /** Waits until a text appears. Returns the whole screen with its history. */
  async until(shown: RegExp, signal: AbortSignal): Promise<string> {
    for (;;) {
      const screen = this.#tmux("capture-pane", "-p", "-J", "-S", "-");
      if (shown.test(screen)) return screen;
      signal.throwIfAborted();
      await sleep(100);
    }
  }

  #tmux(...args: readonly string[]): string {
    return execFileSync("tmux", ["-L", this.#name, ...args], { encoding: "utf8" });
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
