import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { StringDecoder } from "node:string_decoder";
import { ModelError } from "@banyan/core";
import { cutToEnd } from "@banyan/core/shown";
import {
  endFamily,
  familyOf,
  markedEnvironment,
  type ProcessFamily,
  RunningCommands,
  waitAtMostFor,
} from "@banyan/tools/processes";
import type { AgentProgram } from "./options.ts";

/** Milliseconds for an agent to exit after its input is closed. */
const LEAVE = 300;

/** Maximum characters of standard error that error messages quote, from its end. */
const LAST_WORDS = 2_000;

const running = new RunningCommands();

/**
 * An agent's process in its own process group. `close` closes the input, sends SIGTERM to the group after 300 ms, and
 * SIGKILL after 2 s more. The process group also ends when this program ends.
 */
export class AgentProcess implements AsyncDisposable {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #family: ProcessFamily;
  #said = "";
  #ending: string | undefined;
  #closing: Promise<void> | undefined;
  readonly ended: Promise<void>;

  private constructor(child: ChildProcessWithoutNullStreams, family: ProcessFamily) {
    this.#child = child;
    this.#family = family;
    running.add(family);
    const decoder = new StringDecoder("utf8");
    child.stderr.on("data", (bytes: Buffer) => this.note(decoder.write(bytes)));
    // The exit event already reports the end of the program, so a broken pipe needs no report.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on("error", () => stream.destroy());
    this.ended = new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        this.#ending = signal === null ? `exit code ${code}` : `ended by ${signal}`;
        resolve();
      });
    });
  }

  /** Rejects with a `ModelError` if the program cannot be started. */
  static async start(name: string, program: AgentProgram): Promise<AgentProcess> {
    const { command, args = [], cwd, env } = program;
    const { mark, environment } = markedEnvironment(env ?? process.env);
    const child = spawn(command, args, {
      cwd,
      env: environment,
      stdio: "pipe",
      detached: process.platform !== "win32",
      windowsHide: true,
    });
    child.on("error", () => {
      // `once` below reports a failed start. Later errors come from signals to a process that has already exited.
    });
    try {
      await once(child, "spawn");
    } catch (error) {
      throw notStarted(name, program, error);
    }
    return new AgentProcess(child, familyOf(child.pid as number, mark));
  }

  get input() {
    return this.#child.stdin;
  }

  get output() {
    return this.#child.stdout;
  }

  /** Keeps output that is not a message, for the error message of a later failure. */
  note(text: string): void {
    this.#said = cutToEnd(this.#said + text, LAST_WORDS);
  }

  /** Describes the end of the process and its last output, for errors. Empty while the process runs without output. */
  get ending(): string {
    const last = this.#said.trim().split("\n").at(-1)?.trim() ?? "";
    return [this.#ending, last && `its last words: ${last}`].filter(Boolean).join("; ");
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { stdin, stdout, stderr } = this.#child;
    stdin.end();
    await waitAtMostFor(LEAVE, this.ended);
    await endFamily(this.#family);
    running.remove(this.#family);
    for (const stream of [stdin, stdout, stderr]) stream.destroy();
  }
}

function notStarted(name: string, { command, install }: AgentProgram, cause: unknown): ModelError {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  const why =
    code === "ENOENT"
      ? `the program "${command}" was not found`
      : `the program "${command}" cannot be started (${code ?? String(cause)})`;
  const advice = install === undefined ? "Install the program, or use another command." : `To install it: ${install}`;
  const sentence = `The agent "${name}" cannot be used: ${why}. ${advice}`;
  return new ModelError("unreachable", sentence, { cause, retryable: false });
}
