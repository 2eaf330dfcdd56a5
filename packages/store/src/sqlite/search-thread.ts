import { Worker } from "node:worker_threads";
import { errorMessage } from "@banyan/core/shown";
import { type SearchHit, type SearchOptions, StoreError } from "@banyan/core/stores";
import type { FromSearchThread, SearchReply, SearchTask, SearchTasks, ToSearchThread } from "./search-tasks.ts";

interface WaitingTask {
  readonly task: SearchTask;
  readonly done: PromiseWithResolvers<readonly SearchHit[]>;
}

/**
 * Runs searches and changes of the index in a thread, because SQLite cannot be interrupted and would block all streams
 * of the process. The first task starts the thread. The thread keeps the process alive only during tasks. If no thread
 * can start, for example because a bundler left out its file, the tasks run in the calling thread.
 */
export class SearchThread {
  readonly #directory: string;
  readonly #waiting = new Map<number, WaitingTask>();
  #worker: Worker | undefined;
  /** Carries out tasks in this thread, after the thread could not start. */
  #here: Promise<SearchTasks> | undefined;
  #last = 0;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Rejects with a `StoreError`, and with the reason of the signal. */
  async search(query: string, { signal, ...options }: SearchOptions): Promise<SearchHit[]> {
    signal?.throwIfAborted();
    const number = ++this.#last;
    const cancel = () => this.#cancel(number, signal?.reason);
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

  /** Rejects all searches, completes all removals, and ends the thread. */
  async close(): Promise<void> {
    const removals: Promise<unknown>[] = [];
    for (const [number, { task, done }] of [...this.#waiting])
      if (task.type === "forget") removals.push(done.promise);
      else this.#cancel(number, searchEnded("the store was closed"));
    await Promise.allSettled(removals);
    await this.#worker?.terminate();
  }

  #run(number: number, task: SearchTask): Promise<readonly SearchHit[]> {
    const done = Promise.withResolvers<readonly SearchHit[]>();
    this.#waiting.set(number, { task, done });
    if (this.#here) this.#runHere(number, task);
    else
      try {
        this.#worker ??= this.#start();
        this.#worker.ref();
        this.#worker.postMessage({ number, task } satisfies ToSearchThread);
      } catch {
        this.#runAllHere();
      }
    return done.promise;
  }

  #cancel(number: number, reason: unknown): void {
    this.#worker?.postMessage({ number, task: "cancel" } satisfies ToSearchThread);
    this.#here?.then((tasks) => tasks.cancel(number)).catch(() => {});
    this.#settle(number)?.reject(reason);
  }

  #settle(number: number): PromiseWithResolvers<readonly SearchHit[]> | undefined {
    const waiting = this.#waiting.get(number);
    this.#waiting.delete(number);
    if (this.#waiting.size === 0) this.#worker?.unref();
    return waiting?.done;
  }

  #reply(number: number, reply: SearchReply): void {
    const done = this.#settle(number);
    if ("hits" in reply) done?.resolve(reply.hits);
    else done?.reject(new StoreError(reply.code ?? "unusable", reply.message));
  }

  #start(): Worker {
    const worker = new Worker(new URL("./search-worker.ts", import.meta.url), {
      workerData: this.#directory,
      // Inherited flags such as `--input-type` could keep the thread from running a file.
      execArgv: [],
    });
    let isStarted = false;
    const gone = (reason: string) => {
      // A thread that failed ends later, when the next thread may have tasks already.
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      if (!isStarted) return this.#runAllHere();
      for (const number of [...this.#waiting.keys()]) this.#settle(number)?.reject(searchEnded(reason));
    };
    worker.on("message", (message: FromSearchThread) => {
      if (message === "started") isStarted = true;
      else this.#reply(message.number, message.reply);
    });
    worker.on("error", (error: unknown) => gone(errorMessage(error)));
    worker.on("exit", () => gone("its thread has ended"));
    return worker;
  }

  #runAllHere(): void {
    for (const [number, { task }] of this.#waiting) this.#runHere(number, task);
  }

  #runHere(number: number, task: SearchTask): void {
    this.#here ??= import("./search-tasks.ts").then((module) => new module.SearchTasks(this.#directory));
    this.#here
      .then((tasks) => tasks.replyTo(number, task))
      .then(
        (reply) => this.#reply(number, reply),
        (error: unknown) => this.#settle(number)?.reject(searchEnded(errorMessage(error))),
      );
  }
}

function searchEnded(reason: string): StoreError {
  return new StoreError("unusable", `The search ended: ${reason}. Search again.`);
}
