import { dirname, join } from "node:path";
import { createFile, openDatabase } from "./database.ts";

/**
 * Runs `body` while no other store mends a file beside the same directory. What two processes find wrong at once is
 * mended by one of them; the other looks again. Throws as SQLite does when another one takes too long.
 */
export function alone<T>(path: string, body: () => T): T {
  // No name of a process's lock: those are cleared away, and whoever waited for one would hold a file that is gone.
  const file = join(dirname(dirname(path)), "writers", "mending.sqlite");
  createFile(file);
  using database = openDatabase(file, { readOnly: false });
  database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  return body();
}
