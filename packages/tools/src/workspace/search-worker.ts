import { parentPort, workerData } from "node:worker_threads";
import { WorkspaceError } from "./error.ts";
import { type Query, searchFiles } from "./search-files.ts";
import type { FromWorker } from "./search-in-worker.ts";
import { type Match, MOST_COUNTED } from "./search-matches.ts";

/** The thread of one built-in search: it may be ended at any moment. */

const BATCH = 50;

function post(message: FromWorker): void {
  parentPort?.postMessage(message);
}

let batch: Match[] = [];
let count = 0;
try {
  await searchFiles(workerData as Query, (match) => {
    batch.push(match);
    count += 1;
    if (batch.length === BATCH) {
      post({ type: "matches", matches: batch });
      batch = [];
    }
    return count < MOST_COUNTED;
  });
  post({ type: "matches", matches: batch });
  post({ type: "done" });
} catch (error) {
  post({
    type: "failed",
    code: error instanceof WorkspaceError ? error.code : "system",
    message: error instanceof Error ? error.message : String(error),
  });
}
