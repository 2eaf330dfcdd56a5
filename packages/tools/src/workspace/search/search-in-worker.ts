import { Worker } from "node:worker_threads";
import { WorkspaceError, type WorkspaceErrorCode } from "../files/error.ts";
import type { SearchQuery } from "./search-files.ts";
import type { Matches, SearchMatch, UnsearchedFile } from "./search-matches.ts";

export type FromWorker =
  | { readonly type: "matches"; readonly matches: readonly SearchMatch[] }
  | { readonly type: "skipped"; readonly skipped: UnsearchedFile }
  | { readonly type: "done" }
  | { readonly type: "failed"; readonly code: WorkspaceErrorCode; readonly message: string };

/** How a search ended. `late`: the search reached its deadline, so matches may be missing. */
export type SearchEnd = "complete" | "late";

const MOST_MEGABYTES = 256;

/**
 * Runs the built-in search in a thread, so that an endless pattern does not block the program. Ends after `deadline`
 * milliseconds at the latest. Throws the signal's reason after an abort.
 */
export async function searchInWorker(
  query: SearchQuery,
  matches: Matches,
  deadline: number,
  signal: AbortSignal,
): Promise<SearchEnd> {
  signal.throwIfAborted();
  const worker = new Worker(new URL("./search-worker.ts", import.meta.url), {
    workerData: ("texts" in query
      ? query
      : { ...query, workspace: { ...query.workspace, whyNotRead: undefined } }) satisfies SearchQuery,
    resourceLimits: { maxOldGenerationSizeMb: MOST_MEGABYTES },
  });
  const late = AbortSignal.timeout(deadline);
  const ended = Promise.withResolvers<SearchEnd>();
  worker.on("message", (message: FromWorker) => {
    switch (message.type) {
      case "matches":
        if (!message.matches.every((match) => matches.add(match))) ended.resolve("complete");
        return;
      case "skipped":
        matches.skip(message.skipped);
        return;
      case "done":
        ended.resolve("complete");
        return;
      case "failed":
        ended.reject(new WorkspaceError(message.code, message.message));
    }
  });
  worker.on("error", (cause) =>
    ended.reject(new WorkspaceError("system", `The search failed: ${cause}. Search a smaller folder.`, { cause })),
  );
  worker.on("exit", () => ended.reject(new WorkspaceError("system", "The search failed. Search a smaller folder.")));
  const stop = AbortSignal.any([signal, late]);
  stop.addEventListener("abort", () => (signal.aborted ? ended.reject(signal.reason) : ended.resolve("late")), {
    once: true,
  });
  try {
    return await ended.promise;
  } finally {
    await worker.terminate();
  }
}
