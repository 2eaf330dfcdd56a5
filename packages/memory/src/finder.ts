import { Worker } from "node:worker_threads";
import { orAborted } from "@banyan/core/hosts";
import type { MemoryQuery } from "./find.ts";

/** The reply of the search thread. */
export type FinderReply =
  | { readonly type: "found"; readonly ids: number[] }
  | { readonly type: "failed"; readonly message: string; readonly errcode: number | undefined };

/**
 * Runs searches in a thread, one after the other, since SQLite cannot be interrupted and would block the process.
 * Starts the thread with the first search. The thread keeps the process alive only during a search.
 */
export class Finder {
  readonly #file: string;
  #worker: Worker | undefined;
  #waiting: PromiseWithResolvers<FinderReply> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** The file must exist. */
  constructor(file: string) {
    this.#file = file;
  }

  /** Rejects with SQLite's errors, and with the reason of the signal. */
  async find(question: MemoryQuery, signal: AbortSignal): Promise<number[]> {
    const answer = this.#last.then(() => {
      signal.throwIfAborted();
      return this.#ask(question);
    });
    // The next search waits for this one, even if it fails.
    this.#last = answer.catch(() => {});
    return orAborted(answer, signal);
  }

  /** Ends the thread after the current query. */
  async close(): Promise<void> {
    await this.#last;
    await this.#worker?.terminate();
  }

  async #ask(question: MemoryQuery): Promise<number[]> {
    this.#waiting = Promise.withResolvers();
    this.#worker ??= this.#start();
    this.#worker.ref();
    this.#worker.postMessage(question);
    const answer = await this.#waiting.promise;
    this.#worker?.unref();
    if (answer.type === "found") return answer.ids;
    throw Object.assign(new Error(answer.message), { errcode: answer.errcode });
  }

  #start(): Worker {
    const worker = new Worker(new URL("./finder-worker.ts", import.meta.url), {
      workerData: this.#file,
      // Inherited flags such as `--input-type` could keep the thread from running a file.
      execArgv: [],
    });
    const gone = (cause: unknown) => {
      this.#worker = undefined;
      this.#waiting?.reject(cause);
    };
    worker.on("message", (answer: FinderReply) => this.#waiting?.resolve(answer));
    worker.on("error", gone);
    worker.on("exit", () => gone(new Error("the thread that looks through it ended")));
    return worker;
  }
}
