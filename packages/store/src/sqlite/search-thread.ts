import { Worker } from "node:worker_threads";
import { type SearchHit, type SearchOptions, StoreError, type StoreErrorCode } from "@banyan/core/stores";

/** Work for the search thread. `cancel` ends the search with the same number. */
export type SearchTask =
  | { readonly type: "search"; readonly query: string; readonly options: Omit<SearchOptions, "signal"> }
  | { readonly type: "forget"; readonly conversation: string }
  | { readonly type: "cancel" };

/** The reply to a task with the same number. */
export type SearchReply =
  | { readonly hits: readonly SearchHit[] }
  | { readonly message: string; readonly code: StoreErrorCode | undefined };

/**
 * Runs searches and changes of the index in a thread, because SQLite cannot be interrupted and would block all streams
 * of the process. Starts the thread with the first task. The thread keeps the process alive only during tasks.
 */
export class SearchThread {
  readonly #directory: string;
  readonly #tasks = new Map<number, PromiseWithResolvers<readonly SearchHit[]>>();
  #worker: Worker | undefined;
  #last = 0;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Rejects with a `StoreError`, and with the reason of the signal. */
  async search(query: string, { signal, ...options }: SearchOptions): Promise<SearchHit[]> {
    signal?.throwIfAborted();
    const number = ++this.#last;
    const cancel = () => {
      this.#worker?.postMessage({ number, type: "cancel" });
      this.#settle(number)?.reject(signal?.reason);
    };
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      return [...(await this.#run(number, { type: "search", query, options }))];
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
  }

  /** Removes a conversation from the catalogue and the index. Rejects with a `StoreError`. */
  async forget(conversation: string): Promise<void> {
    await this.#run(++this.#last, { type: "forget", conversation });
  }

  /** Ends the thread, and rejects its searches. */
  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #run(number: number, task: SearchTask): Promise<readonly SearchHit[]> {
    const reply = Promise.withResolvers<readonly SearchHit[]>();
    this.#tasks.set(number, reply);
    this.#worker ??= this.#start();
    this.#worker.ref();
    this.#worker.postMessage({ number, ...task });
    return reply.promise;
  }

  #settle(number: number): PromiseWithResolvers<readonly SearchHit[]> | undefined {
    const reply = this.#tasks.get(number);
    this.#tasks.delete(number);
    if (this.#tasks.size === 0) this.#worker?.unref();
    return reply;
  }

  #start(): Worker {
    const worker = new Worker(new URL("./search-worker.ts", import.meta.url), {
      workerData: this.#directory,
      // Inherited flags such as `--input-type` could keep the thread from running a file.
      execArgv: [],
    });
    const gone = (reason: string) => {
      if (this.#worker === worker) this.#worker = undefined;
      for (const number of [...this.#tasks.keys()])
        this.#settle(number)?.reject(new StoreError("unusable", `The search ended: ${reason}. Search again.`));
    };
    worker.on("message", ({ number, ...reply }: SearchReply & { readonly number: number }) => {
      const task = this.#settle(number);
      if ("hits" in reply) task?.resolve(reply.hits);
      else task?.reject(new StoreError(reply.code ?? "unusable", reply.message));
    });
    worker.on("error", ({ message }) => gone(message));
    worker.on("exit", () => gone("the store was closed"));
    return worker;
  }
}
