import { type SearchHit, type SearchOptions, StoreError, type StoreErrorCode } from "@banyan/core/stores";
import { Catalogue } from "./catalogue.ts";
import { forgetInCatalogue, searchConversations } from "./search.ts";

/** Work for the search thread. */
export type SearchTask =
  | { readonly type: "search"; readonly query: string; readonly options: Omit<SearchOptions, "signal"> }
  | { readonly type: "forget"; readonly conversation: string };

/** The reply to a task. */
export type SearchReply =
  | { readonly hits: readonly SearchHit[] }
  | { readonly message: string; readonly code: StoreErrorCode | undefined };

/** A task with its number. `cancel` ends the search with this number. */
export interface ToSearchThread {
  readonly number: number;
  readonly task: SearchTask | "cancel";
}

/** A reply to a task, or the first message of the thread. */
export type FromSearchThread = "started" | { readonly number: number; readonly reply: SearchReply };

/** Carries out the tasks of a `SearchThread`. */
export class SearchTasks {
  readonly #directory: string;
  readonly #catalogue: Catalogue;
  readonly #searches = new Map<number, AbortController>();

  constructor(directory: string) {
    this.#directory = directory;
    this.#catalogue = new Catalogue(directory);
  }

  async replyTo(number: number, task: SearchTask): Promise<SearchReply> {
    try {
      if (task.type === "forget") {
        forgetInCatalogue(this.#directory, task.conversation);
        return { hits: [] };
      }
      const controller = new AbortController();
      this.#searches.set(number, controller);
      const options = { ...task.options, signal: controller.signal };
      return { hits: await searchConversations(this.#directory, this.#catalogue, task.query, options) };
    } catch (error) {
      const { message } = error as Error;
      return { message, code: error instanceof StoreError ? error.code : undefined };
    } finally {
      this.#searches.delete(number);
    }
  }

  /** Ends the search with this number. */
  cancel(number: number): void {
    this.#searches.get(number)?.abort();
  }
}
