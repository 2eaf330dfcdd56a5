import type { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { openForReading } from "./database.ts";
import { findEntries, type MemoryQuery } from "./find.ts";
import type { FinderReply } from "./finder.ts";

let database: DatabaseSync | undefined;

parentPort?.on("message", (question: MemoryQuery) => parentPort?.postMessage(answerQuery(question)));

function answerQuery(question: MemoryQuery): FinderReply {
  try {
    database ??= openForReading(workerData as string);
    return { type: "found", ids: findEntries(database, question) };
  } catch (error) {
    const { message, errcode } = error as Error & { readonly errcode?: number };
    return { type: "failed", message, errcode };
  }
}
