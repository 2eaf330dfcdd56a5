import { errorMessage } from "@banyan/core/shown";

/**
 * `damaged`: the file has other content than was written. `full`: no space is left. `locked`: another process writes for
 * too long. `unusable`: the file cannot be used, or the memory is closed. `unfit`: a fact is empty or too long. `off`:
 * memory is off for the conversation. `embedder`: the embedding model failed.
 */
export type MemoryErrorCode = "damaged" | "full" | "locked" | "unusable" | "unfit" | "off" | "embedder";

/** A memory operation failed. The message gives advice. */
export class MemoryError extends Error {
  override readonly name = "MemoryError";
  readonly code: MemoryErrorCode;

  constructor(code: MemoryErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

// Primary result codes of SQLite, https://sqlite.org/rescode.html
const ERROR = 1;
const BUSY = 5;
const LOCKED = 6;
const CORRUPT = 11;
const FULL = 13;
const NOT_A_DATABASE = 26;
// Extended result codes.
const IO_READ = 266;
const IO_SHORT_READ = 522;
const IO_SHARED_MEMORY_SIZE = 4874;
const CORRUPT_INDEX = 779;

/** Turns an error of a memory's file into one with advice. */
export function memoryError(error: unknown, file: string): MemoryError {
  if (error instanceof MemoryError) return error;
  const { code, errcode = 0 } = (error ?? {}) as { readonly code?: unknown; readonly errcode?: number };
  const why = errorMessage(error);
  const primary = errcode & 0xff;
  // The shared memory of the write-ahead log only fails to grow if no space is left.
  if (code === "ENOSPC" || code === "EDQUOT" || errcode === IO_SHARED_MEMORY_SIZE || primary === FULL) {
    return new MemoryError("full", `There is no room left for ${file}; free some space. Its content is safe.`, {
      cause: error,
    });
  }
  if (primary === BUSY || primary === LOCKED) {
    return new MemoryError("locked", `${file} is locked by another process; let it finish, or end it, and try again.`, {
      cause: error,
    });
  }
  // Our statements fit our schema, so an error in one means that a table is missing.
  const damage = [ERROR, CORRUPT, NOT_A_DATABASE].includes(primary);
  if (damage || [IO_READ, IO_SHORT_READ, CORRUPT_INDEX].includes(errcode)) {
    return new MemoryError(
      "damaged",
      `${file} is damaged (${why}); put a backup in its place, or move it away to start with an empty memory.`,
      { cause: error },
    );
  }
  return new MemoryError(
    "unusable",
    `${file} cannot be used (${why}); check that its directory exists and that you may write there.`,
    { cause: error },
  );
}
