import { parentPort, workerData } from "node:worker_threads";
import { errorMessage } from "@banyan/core/shown";
import { WorkspaceError } from "../files/error.ts";
import { type SearchListener, type SearchQuery, searchFiles, searchTexts } from "./search-files.ts";
import type { FromWorker } from "./search-in-worker.ts";
import type { SearchMatch } from "./search-matches.ts";

/** The thread of one built-in search. It may be ended at any moment, and is ended after enough matches. */

const BATCH = 50;

function post(message: FromWorker): void {
  parentPort?.postMessage(message);
}

let batch: SearchMatch[] = [];
try {
  const query = workerData as SearchQuery;
  const listener: SearchListener = {
    found(match) {
      batch.push(match);
      if (batch.length === BATCH) {
        post({ type: "matches", matches: batch });
        batch = [];
      }
      return true;
    },
    skipped: (skipped) => post({ type: "skipped", skipped }),
  };
  if ("texts" in query) searchTexts(query, listener);
  else await searchFiles(query, listener);
  post({ type: "matches", matches: batch });
  post({ type: "done" });
} catch (error) {
  post({
    type: "failed",
    code: error instanceof WorkspaceError ? error.code : "system",
    message: errorMessage(error),
  });
}
