import type { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { openForReading } from "./database.ts";
import { find, type MemoryQuery } from "./find.ts";
import type { FinderReply } from "./finder.ts";

/** The thread that searches a large memory. */

let database: DatabaseSync | undefined;

parentPort?.on("message", (question: MemoryQuery) => parentPort?.postMessage(answer(question)));

function answer(question: MemoryQuery): FinderReply {
  try {
    database ??= openForReading(workerData as string);
    return { type: "found", ids: find(database, question) };
  } catch (error) {
    const { message, errcode } = error as Error & { readonly errcode?: number };
    return { type: "failed", message, errcode };
  }
}
