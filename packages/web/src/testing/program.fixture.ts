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

/** `banyan` as started from a checkout, with its own home and workspace. */
export class Program implements AsyncDisposable {
  readonly #directory = mkdtempSync(join(tmpdir(), "banyan-together-"));
  readonly workspace = join(this.#directory, "workspace");
  readonly env: Readonly<Record<string, string>>;
  #server: ChildProcessByStdio<null, Readable, Readable> | undefined;

  /** The environment has these variables, and no settings, keys or conversations of this machine. */
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

  /** Runs a command to its end and returns its output. */
  async output(...args: readonly string[]): Promise<string> {
    const [program = "", ...rest] = this.command(...args);
    const { stdout } = await run(program, rest, { cwd: this.workspace, env: this.env, maxBuffer: 1 << 26 });
    return stdout;
  }

  /** Starts a server, and returns its address. Builds the page if necessary. */
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

  /** Ends the server with these signals, one after another; by default with SIGKILL, like a power cut. */
  async kill(...signals: readonly NodeJS.Signals[]): Promise<void> {
    if (!this.#server || this.#server.exitCode !== null || this.#server.signalCode !== null) return;
    const ended = once(this.#server, "exit");
    for (const signal of signals.length > 0 ? signals : (["SIGKILL"] as const)) this.#server.kill(signal);
    await ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    // Child processes of the server may still write.
    rmSync(this.#directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}
