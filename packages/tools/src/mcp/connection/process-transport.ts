import { StringDecoder } from "node:string_decoder";
import {
  type JSONRPCMessage,
  SdkError,
  SdkErrorCode,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/client";
import type { Journal } from "../../workspace/commands/journal.ts";
import { type PipedLaunch, PipedProgram } from "../../workspace/commands/piped-program.ts";
import type { RunningCommands } from "../../workspace/commands/process-family.ts";
import { McpError } from "../entries/error.ts";
import { MessageLines } from "./message-lines.ts";

/**
 * Exchanges messages with a program over standard input and output, one JSON message per line. The client package's own
 * transport ends only the first process, and waits for ever if another process keeps an output open.
 */
export class ProcessTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #launch: PipedLaunch;
  readonly #program: PipedProgram;
  readonly #journal: Journal;
  readonly #messages = new MessageLines();
  #ending: string | undefined;
  #handing = false;

  constructor(launch: PipedLaunch, running: RunningCommands, journal: Journal) {
    const decoder = new StringDecoder("utf8");
    this.#launch = launch;
    this.#journal = journal;
    this.#program = new PipedProgram(launch, running, {
      output: (bytes) => this.#receive(bytes),
      errorOutput: (bytes) => journal.push(decoder.write(bytes)),
      failed: (error) => this.#fail(error),
      exited: (how) => {
        this.#ending = how;
      },
      closed: () => this.onclose?.(),
    });
  }

  /** Says how the program ended, with its last line of output; undefined while the program runs. */
  get ending(): string | undefined {
    const { last } = this.#journal;
    return this.#ending === undefined || last === undefined
      ? this.#ending
      : `${this.#ending}; its last output: ${last}`;
  }

  async start(): Promise<void> {
    try {
      await this.#program.start();
    } catch (cause) {
      if (!(cause instanceof Error && "syscall" in cause)) throw cause;
      const { file, directory } = this.#launch;
      const code = "code" in cause ? cause.code : "unknown";
      const message = `${file} cannot be started in ${directory} (${code}); check that the program and the folder exist`;
      throw McpError.because(cause, "start", message);
    }
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const { input } = this.#program;
    if (input === undefined || !input.writable) throw new SdkError(SdkErrorCode.NotConnected, "Not connected");
    await new Promise<void>((resolve, reject) => {
      input.write(serializeMessage(message), (error) => (error ? reject(error) : resolve()));
    });
  }

  close(): Promise<void> {
    return this.#program.close();
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
