import { Worker } from "node:worker_threads";
import type { Question } from "./find.ts";
import { orAborted } from "./wait.ts";

/** What the thread answers. */
export type Answer =
  | { readonly type: "found"; readonly ids: number[] }
  | { readonly type: "failed"; readonly message: string; readonly errcode: number | undefined };

/**
 * Looks things up in a thread of its own, one after the other: a query of SQLite cannot be interrupted, and in a large
 * memory it would hold up everything else. The thread starts with the first question; only while it has one does it keep
 * the process alive.
 */
export class Finder {
  readonly #file: string;
  #worker: Worker | undefined;
  #waiting: PromiseWithResolvers<Answer> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** The file is there, and prepared. */
  constructor(file: string) {
    this.#file = file;
  }

  /** Rejects as SQLite throws, and with the reason of the signal: then nobody waits for the answer any more. */
  find(question: Question, signal: AbortSignal): Promise<number[]> {
    const answer = this.#last.then(() => {
      signal.throwIfAborted();
      return this.#ask(question);
    });
    // The next one waits for this one, whatever becomes of it.
    this.#last = answer.catch(() => {});
    return orAborted(answer, signal);
  }

  /** Ends the thread, after what it is looking up now. */
  async close(): Promise<void> {
    await this.#last;
    await this.#worker?.terminate();
  }

  async #ask(question: Question): Promise<number[]> {
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
      // Not those of this process: with --input-type, say, no file could be run.
      execArgv: [],
    });
    const gone = (cause: unknown) => {
      // The next question gets a new one.
      this.#worker = undefined;
      this.#waiting?.reject(cause);
    };
    worker.on("message", (answer: Answer) => this.#waiting?.resolve(answer));
    worker.on("error", gone);
    worker.on("exit", () => gone(new Error("the thread that looks through it ended")));
    return worker;
  }
}
