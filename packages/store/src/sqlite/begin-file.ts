import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { identityOf, makeSchema } from "./conversation-schema.ts";
import { createDatabaseFile, makeDirectory, openSqliteFile } from "./database.ts";

/** Offsets in the header of a database file (https://sqlite.org/fileformat2.html). */
const WRITE_VERSION = 18;
const READ_VERSION = 19;
const APPLICATION_ID = 68;
/** The write and read version of files with a write-ahead log. */
const WITH_WAL = 2;

/** The bytes of a conversation's file without events. They are the same for all conversations but for the identity. */
let empty: Buffer | undefined;

/**
 * Creates a conversation's file without events, unless the file already has content. Returns whether the file was
 * created. The file gets its name only after its content is flushed, so that a power cut leaves a whole file or none.
 * The name itself is flushed with the first events: SQLite flushes the folder with the first flush of a write-ahead
 * log. Call under the lock of `runExclusively`.
 */
export function beginConversationFile(path: string, conversation: string): boolean {
  if (statSync(path, { throwIfNoEntry: false })?.size) return false;
  makeDirectory(dirname(path));
  // Not the log of this file: SQLite would read it into the new file.
  for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix, { force: true });
  const fresh = `${path}.new`;
  rmSync(fresh, { force: true });
  try {
    empty ??= emptyFile(fresh, conversation);
    const bytes = Buffer.from(empty);
    bytes.writeInt32BE(identityOf(conversation), APPLICATION_ID);
    writeFileSync(fresh, bytes, { mode: 0o600, flush: true });
    renameSync(fresh, path);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
  return true;
}

/** Lets SQLite make the tables in a file, and returns the content of the file. */
function emptyFile(file: string, conversation: string): Buffer {
  createDatabaseFile(file);
  {
    using database = openSqliteFile(file, { readOnly: false });
    database.exec("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; BEGIN");
    makeSchema(database, conversation);
    database.exec("COMMIT");
  }
  const bytes = readFileSync(file);
  rmSync(file);
  // With `PRAGMA journal_mode = WAL`, SQLite would flush a journal, the folder, and the file.
  bytes[WRITE_VERSION] = WITH_WAL;
  bytes[READ_VERSION] = WITH_WAL;
  return bytes;
}
