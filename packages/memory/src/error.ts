import { errorMessage } from "@banyan/core/shown";

/**
 * Why a memory operation failed. `damaged`: the file was changed by accident. `full`: the disk is full. `locked`:
 * another process has written for too long. `unusable`: the file cannot be used, or the memory is closed. `unfit`: a
 * fact is empty or too long. `off`: memory is off for the conversation. `embedder`: the embedding model failed.
 * See {@link MemoryError}.
 */
export type MemoryErrorCode = "damaged" | "full" | "locked" | "unusable" | "unfit" | "off" | "embedder";

/**
 * Error of a memory operation. `message` names the fault and the remedy.
 * @example await memory.clear().catch((error) => error instanceof MemoryError && console.log(error.code));
 */
export class MemoryError extends Error {
  override readonly name = "MemoryError";
  readonly code: MemoryErrorCode;

  constructor(code: MemoryErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

// Result codes of SQLite, https://sqlite.org/rescode.html
const ERROR = 1;
const BUSY = 5;
const LOCKED = 6;
const CORRUPT = 11;
const FULL = 13;
const NOT_A_DATABASE = 26;
const IO_READ = 266;
const IO_SHORT_READ = 522;
const IO_SHARED_MEMORY_SIZE = 4874;
const CORRUPT_INDEX = 779;

/** Converts an error of SQLite or the file system to a `MemoryError`. */
export function memoryError(error: unknown, file: string): MemoryError {
  if (error instanceof MemoryError) return error;
  const { code, errcode = 0 } = (error ?? {}) as { readonly code?: unknown; readonly errcode?: number };
  const why = errorMessage(error);
  const primary = errcode & 0xff;
  // The shared memory of the write-ahead log only fails to grow if no space is left.
  if (code === "ENOSPC" || code === "EDQUOT" || errcode === IO_SHARED_MEMORY_SIZE || primary === FULL) {
    return new MemoryError("full", `No disk space is left for ${file}; free some space. Stored data is safe.`, {
      cause: error,
    });
  }
  if (primary === BUSY || primary === LOCKED) {
    return new MemoryError(
      "locked",
      `${file} is locked by another process; wait for that process or end it, then try again.`,
      {
        cause: error,
      },
    );
  }
  // The statements are correct, so an error in one means that a table is missing.
  const damage = [ERROR, CORRUPT, NOT_A_DATABASE].includes(primary);
  if (damage || [IO_READ, IO_SHORT_READ, CORRUPT_INDEX].includes(errcode)) {
    return new MemoryError(
      "damaged",
      `${file} is damaged (${why}); replace the file with a backup, or move the file away to start with an empty memory.`,
      { cause: error },
    );
  }
  return new MemoryError(
    "unusable",
    `${file} cannot be used (${why}); check that its directory exists and that you may write there.`,
    { cause: error },
  );
}
