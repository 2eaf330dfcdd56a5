import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import type { Writable } from "node:stream";
import type { ProgramLaunch } from "../../sandbox/find-program.ts";
import {
  endFamily,
  familyOf,
  markedEnvironment,
  type ProcessFamily,
  type RunningCommands,
  waitAtMostFor,
} from "./process-family.ts";

/** A program that exchanges messages over standard input and output, and its working directory. */
export interface PipedLaunch extends ProgramLaunch {
  readonly directory: string;
  /** Wraps the program in a sandbox. The sandbox is disposed of after the program and all its child processes have ended. */
  readonly wrap: ((program: ProgramLaunch) => Promise<ProgramLaunch & Disposable>) | undefined;
}

/** Receives what a `PipedProgram` does. No method may throw. */
export interface PipedReceiver {
  output(bytes: Buffer): void;
  errorOutput(bytes: Buffer): void;
  failed(error: Error): void;
  /** `how`: the end of a sentence. `code`: null after a signal. `close` follows by itself. */
  exited(how: string, code: number | null): void;
  /** The program and all its child processes have ended. */
  closed(): void;
}

const LEAVE = 200;
const DRAIN = 250;

/**
 * A program with pipes for its streams, and the owner of all processes that the program starts:
 *
 *   close ──▶ input ends, 200 ms ──▶ remaining processes get SIGTERM, after 2 s SIGKILL ──▶ closed
 *   program exits ───────────────────▲
 */
export class PipedProgram {
  readonly #launch: PipedLaunch;
  readonly #running: RunningCommands;
  readonly #receiver: PipedReceiver;
  #child: ChildProcessWithoutNullStreams | undefined;
  #family: ProcessFamily | undefined;
  #wrapped: (ProgramLaunch & Disposable) | undefined;
  #closing: Promise<void> | undefined;

  constructor(launch: PipedLaunch, running: RunningCommands, receiver: PipedReceiver) {
    this.#launch = launch;
    this.#running = running;
    this.#receiver = receiver;
  }

  /** The standard input; undefined before the start. */
  get input(): Writable | undefined {
    return this.#child?.stdin;
  }

  /** The processes of the program; undefined before the start. */
  get family(): ProcessFamily | undefined {
    return this.#family;
  }

  /** Starts the program. Rejects with the system's error if that fails, or with the error of the sandbox. */
  async start(): Promise<void> {
    const { file, args, directory, wrap } = this.#launch;
    const { mark, environment } = markedEnvironment(this.#launch.environment);
    this.#wrapped = await wrap?.({ file, args, environment });
    const program = this.#wrapped ?? { file, args, environment };
    const child = spawn(program.file, program.args, {
      cwd: directory,
      env: program.environment,
      stdio: "pipe",
      detached: process.platform !== "win32",
      windowsHide: true,
    });
    this.#child = child;
    if (child.pid !== undefined) {
      this.#family = familyOf(child.pid, mark);
      this.#running.add(this.#family);
    }
    child.stderr.on("data", (bytes: Buffer) => this.#receiver.errorOutput(bytes));
    child.stdout.on("data", (bytes: Buffer) => this.#receiver.output(bytes));
    // A broken pipe needs no report: the exit event reports the end of the program.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on("error", () => stream.destroy());
    child.on("error", (error) => this.#receiver.failed(error));
    child.once("exit", (code, signal) => {
      this.#receiver.exited(signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`, code);
      this.close().catch((error: Error) => this.#receiver.failed(error));
    });
    try {
      await once(child, "spawn");
    } catch (error) {
      this.#wrapped?.[Symbol.dispose]();
      throw error;
    }
  }

  async close(): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined) return;
    this.#closing ??= this.#end(child);
    await this.#closing;
  }

  async #end(child: ChildProcessWithoutNullStreams): Promise<void> {
    child.stdin.end();
    if (child.exitCode === null && child.signalCode === null) await waitAtMostFor(LEAVE, once(child, "exit"));
    else if (!child.stdout.closed) await waitAtMostFor(DRAIN, once(child.stdout, "close"));
    if (this.#family !== undefined) {
      await endFamily(this.#family);
      this.#running.remove(this.#family);
    }
    this.#wrapped?.[Symbol.dispose]();
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    this.#receiver.closed();
  }
}
