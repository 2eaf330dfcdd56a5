import { parentPort, workerData } from "node:worker_threads";
import { StoreError } from "@banyan/core/stores";
import { Catalogue } from "./catalogue.ts";
import { forgetInCatalogue, searchConversations } from "./search.ts";
import type { SearchReply, SearchTask } from "./search-thread.ts";

const directory = workerData as string;
const catalogue = new Catalogue(directory);
const searches = new Map<number, AbortController>();

parentPort?.on("message", async ({ number, ...task }: SearchTask & { readonly number: number }) => {
  if (task.type === "cancel") return searches.get(number)?.abort();
  parentPort?.postMessage({ number, ...(await replyTo(number, task)) });
});

async function replyTo(number: number, task: Exclude<SearchTask, { type: "cancel" }>): Promise<SearchReply> {
  try {
    if (task.type === "forget") {
      forgetInCatalogue(directory, task.conversation);
      return { hits: [] };
    }
    const controller = new AbortController();
    searches.set(number, controller);
    const { signal } = controller;
    return { hits: await searchConversations(directory, catalogue, task.query, { ...task.options, signal }) };
  } catch (error) {
    const { message } = error as Error;
    return { message, code: error instanceof StoreError ? error.code : undefined };
  } finally {
    searches.delete(number);
  }
}
