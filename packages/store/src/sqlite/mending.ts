import { dirname, join } from "node:path";
import { createFile, openDatabase } from "./database.ts";

/**
 * Runs `body`, which opens a file for writing, while no other store opens or mends one in the same place. Opening is
 * within it too: who had a damaged file open while another one replaced it would leave its write-ahead log beside the
 * new file. Throws as SQLite does when another one takes too long.
 */
export function alone<T>(path: string, body: () => T): T {
  // No name of a process's lock: those are cleared away, and whoever waited for one would hold a file that is gone.
  const file = join(dirname(dirname(path)), "opening.sqlite");
  createFile(file);
  using database = openDatabase(file, { readOnly: false });
  database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  return body();
}
