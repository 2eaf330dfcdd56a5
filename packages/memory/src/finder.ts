import { Worker } from "node:worker_threads";
import { orAborted } from "@banyan/core/hosts";
import type { MemoryQuery } from "./find.ts";

/** An answer of the thread. */
export type FinderReply =
  | { readonly type: "found"; readonly ids: number[] }
  | { readonly type: "failed"; readonly message: string; readonly errcode: number | undefined };

/**
 * Runs queries in a thread, one after the other: SQLite queries cannot be interrupted, and in a large memory they would
 * block the process. The thread starts with the first query, and keeps the process alive only during a query.
 */
export class Finder {
  readonly #file: string;
  #worker: Worker | undefined;
  #waiting: PromiseWithResolvers<FinderReply> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** The file exists and is prepared. */
  constructor(file: string) {
    this.#file = file;
  }

  /** Rejects with errors of SQLite, and with the reason of the signal; an aborted query is abandoned. */
  async find(question: MemoryQuery, signal: AbortSignal): Promise<number[]> {
    const answer = this.#last.then(() => {
      signal.throwIfAborted();
      return this.#ask(question);
    });
    // The next query waits for this one, even if it fails.
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
      // No inherited flags: with `--input-type`, for example, the thread could not run a file.
      execArgv: [],
    });
    const gone = (cause: unknown) => {
      // The next query starts a new thread.
      this.#worker = undefined;
      this.#waiting?.reject(cause);
    };
    worker.on("message", (answer: FinderReply) => this.#waiting?.resolve(answer));
    worker.on("error", gone);
    worker.on("exit", () => gone(new Error("the thread that looks through it ended")));
    return worker;
  }
}
