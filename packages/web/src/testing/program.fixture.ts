import { type ChildProcessByStdio, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const START = fileURLToPath(new URL("../../../../scripts/start.ts", import.meta.url));

/** `banyan` as a person starts it from a checkout, in a home and a workspace of its own. */
export class Program implements AsyncDisposable {
  readonly #directory = mkdtempSync(join(tmpdir(), "banyan-together-"));
  readonly workspace = join(this.#directory, "workspace");
  readonly env: Readonly<Record<string, string>>;
  #server: ChildProcessByStdio<null, Readable, Readable> | undefined;

  /** With these variables, and nothing of this machine's settings, keys and conversations. */
  constructor(env: Readonly<Record<string, string>>) {
    mkdirSync(this.workspace);
    const { PATH = "", TMPDIR = tmpdir() } = process.env;
    const home = { HOME: this.#directory, BANYAN_HOME: join(this.#directory, "home"), BANYAN_NO_DISCOVERY: "1" };
    this.env = { PATH, TMPDIR, ...home, ...env };
  }

  /** The words of a command line. */
  command(...args: readonly string[]): readonly string[] {
    return [process.execPath, START, ...args];
  }

  /** Runs a command to its end, and returns what it wrote. */
  async output(...args: readonly string[]): Promise<string> {
    const [program = "", ...rest] = this.command(...args);
    const { stdout } = await run(program, rest, { cwd: this.workspace, env: this.env, maxBuffer: 1 << 26 });
    return stdout;
  }

  /** Serves until it is killed, and returns the address. Builds the page first where it was not built. */
  async serve(...args: readonly string[]): Promise<string> {
    const [program = "", ...rest] = this.command("serve", ...args);
    const { workspace: cwd, env } = this;
    const server = spawn(program, rest, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    this.#server = server;
    let said = "";
    for (const stream of [server.stdout, server.stderr]) {
      stream.setEncoding("utf8").on("data", (chunk: string) => {
        said += chunk;
      });
    }
    for (;;) {
      const [, address] = /^Open (http:\S+)\/\?token=/m.exec(said) ?? [];
      if (address !== undefined) return address;
      if (server.exitCode !== null) throw new Error(`banyan serve ended before it served: ${said}`);
      await Promise.race([once(server.stdout, "data"), once(server, "exit")]);
    }
  }

  /** Ends the server by these signals, one after the other; without any, as a power cut does. */
  async kill(...signals: readonly NodeJS.Signals[]): Promise<void> {
    if (!this.#server || this.#server.exitCode !== null || this.#server.signalCode !== null) return;
    const ended = once(this.#server, "exit");
    for (const signal of signals.length > 0 ? signals : (["SIGKILL"] as const)) this.#server.kill(signal);
    await ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    // What the server had started may still be writing.
    rmSync(this.#directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}
