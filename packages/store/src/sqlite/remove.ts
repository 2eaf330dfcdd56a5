import { readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { StoreError } from "@banyan/core";
import { storeError } from "./error.ts";

/**
 * Removes a conversation's file. `take` makes this process its writer, so that nobody else begins to write meanwhile, and
 * throws `locked` while somebody does, or `not-found`. A file that cannot be read can be removed. Throws `StoreError`.
 */
export function removeConversationFile(path: string, take: () => void): void {
  try {
    take();
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== "damaged") throw error;
  }
  try {
    // The file itself last: what is beside it must not meet a new one of the same name.
    const folder = dirname(path);
    const beside = readdirSync(folder).filter((name) => name.startsWith(`${basename(path)}.`));
    for (const name of beside) rmSync(join(folder, name), { force: true });
    for (const suffix of ["-wal", "-shm", ""]) rmSync(path + suffix, { force: true });
  } catch (error) {
    throw storeError(error, path);
  }
}
