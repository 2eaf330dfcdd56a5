import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";

/** Clients of a WebSocket server, in a separate process. */
export class Watchers implements Disposable {
  readonly #child: ChildProcess;
  readonly #heard: string[] = [];

  /** `frames` are the first frames of each client. */
  constructor(address: string, count: number, token: string, frames: readonly object[] = []) {
    this.#child = fork(new URL("./main.ts", import.meta.url), [address, String(count), token, JSON.stringify(frames)], {
      execArgv: [],
    });
    this.#child.on("message", (message) => this.#heard.push(String(message)));
  }

  /** Resolves when every client has a frame with the word snapshot. */
  ready(): Promise<void> {
    return this.#until("ready");
  }

  /** Resolves when every client has a frame with the text run.ended. */
  ended(): Promise<void> {
    return this.#until("ended");
  }

  /** Makes the clients stop reading. */
  pause(): Promise<void> {
    this.#child.send("pause");
    return this.#until("paused");
  }

  [Symbol.dispose](): void {
    this.#child.kill();
  }

  async #until(word: string): Promise<void> {
    while (!this.#heard.includes(word)) await once(this.#child, "message");
  }
}
