import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { StringDecoder } from "node:string_decoder";
import {
  type JSONRPCMessage,
  SdkError,
  SdkErrorCode,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/client";
import type { ProgramLaunch } from "../../sandbox/index.ts";
import type { RunningCommands } from "../../workspace/commands/process-family.ts";
import {
  endFamily,
  familyOf,
  markedEnvironment,
  type ProcessFamily,
  waitAtMostFor,
} from "../../workspace/commands/process-family.ts";
import { McpError } from "../entries/error.ts";
import type { Journal } from "./journal.ts";
import { MessageLines } from "./message-lines.ts";

/** The program of an MCP server and its working directory. */
export interface ProgramStart extends ProgramLaunch {
  readonly directory: string;
  /** Wraps the program in a sandbox. The sandbox is disposed of after the program and all its child processes have ended. */
  readonly wrap: ((program: ProgramLaunch) => Promise<ProgramLaunch & Disposable>) | undefined;
}

const LEAVE = 200;
const DRAIN = 250;

/**
 * Exchanges messages with a program over standard input and output, one JSON message per line. Owns all processes that the
 * program starts:
 *
 *   close ──▶ input ends, 200 ms ──▶ remaining processes get SIGTERM, after 2 s SIGKILL ──▶ closed
 *   program exits ───────────────────▲
 *
 * The client package's own transport ends only the first process, and waits for ever if another process keeps an
 * output open.
 */
export class ProcessTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #program: ProgramStart;
  readonly #running: RunningCommands;
  readonly #journal: Journal;
  readonly #messages = new MessageLines();
  #child: ChildProcessWithoutNullStreams | undefined;
  #family: ProcessFamily | undefined;
  #wrapped: (ProgramLaunch & Disposable) | undefined;
  #closing: Promise<void> | undefined;
  #ending: string | undefined;
  #handing = false;

  constructor(program: ProgramStart, running: RunningCommands, journal: Journal) {
    this.#program = program;
    this.#running = running;
    this.#journal = journal;
  }

  /** Says how the program ended, with its last line of output; undefined while the program runs. */
  get ending(): string | undefined {
    const { last } = this.#journal;
    return this.#ending === undefined || last === undefined
      ? this.#ending
      : `${this.#ending}; its last output: ${last}`;
  }

  async start(): Promise<void> {
    const { file, args, directory, wrap } = this.#program;
    const { mark, environment } = markedEnvironment(this.#program.environment);
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
    const decoder = new StringDecoder("utf8");
    child.stderr.on("data", (bytes: Buffer) => this.#journal.push(decoder.write(bytes)));
    child.stdout.on("data", (bytes: Buffer) => this.#receive(bytes));
    // A broken pipe needs no report: the exit event reports the end of the program.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on("error", () => stream.destroy());
    child.on("error", (error) => this.onerror?.(error));
    child.once("exit", (code, signal) => {
      this.#ending = signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`;
      this.close().catch(this.#fail);
    });
    try {
      await once(child, "spawn");
    } catch (cause) {
      const code = cause instanceof Error && "code" in cause ? cause.code : "unknown";
      this.#wrapped?.[Symbol.dispose]();
      const message = `${file} cannot be started in ${directory} (${code}); check that the program and the folder exist`;
      throw McpError.because(cause, "start", message);
    }
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const input = this.#child?.stdin;
    if (input === undefined || !input.writable) throw new SdkError(SdkErrorCode.NotConnected, "Not connected");
    await new Promise<void>((resolve, reject) => {
      input.write(serializeMessage(message), (error) => (error ? reject(error) : resolve()));
    });
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
    this.onclose?.();
  }

  #receive(bytes: Buffer): void {
    try {
      this.#messages.append(bytes);
    } catch (error) {
      // An endless line is no message, and no later message can be found.
      this.onerror?.(error as Error);
      this.close().catch(this.#fail);
      return;
    }
    if (!this.#handing) this.#handOver().catch(this.#fail);
  }

  /** Delivers messages one by one: the client handles a notification asynchronously, so the next response must arrive later. */
  async #handOver(): Promise<void> {
    this.#handing = true;
    try {
      for (let message = this.#next(); message !== null; message = this.#next()) {
        this.onmessage?.(message);
        await Promise.resolve();
      }
    } finally {
      this.#handing = false;
    }
  }

  readonly #fail = (error: unknown): void => {
    this.onerror?.(error instanceof Error ? error : new Error(String(error)));
  };

  #next(): JSONRPCMessage | null {
    for (;;) {
      try {
        return this.#messages.next();
      } catch {
        // Later lines may be messages again.
        this.onerror?.(new Error("A line of the server's output is JSON but not a message."));
      }
    }
  }
}
