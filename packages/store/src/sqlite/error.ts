import { StoreError } from "@banyan/core";
import { errorMessage } from "@banyan/core/shown";

// Result codes of SQLite, https://sqlite.org/rescode.html
const ERROR = 1;
const BUSY = 5;
const LOCKED = 6;
const CORRUPT = 11;
const FULL = 13;
const TOO_BIG = 18;
const CONSTRAINT = 19;
const NOT_A_DATABASE = 26;
const IO_READ = 266;
const IO_SHARED_MEMORY_SIZE = 4874;

/** Converts an error of SQLite or the file system to a `StoreError`. */
export function sqliteStoreError(error: unknown, file: string): StoreError {
  if (error instanceof StoreError) return error;
  const cause = { cause: error };
  const { code, errcode } = codesOf(error);
  const why = errorMessage(error);
  // The shared memory of the write-ahead log fails to grow only if no space is left.
  if (code === "ENOSPC" || code === "EDQUOT" || errcode === IO_SHARED_MEMORY_SIZE || primary(errcode) === FULL) {
    return new StoreError(
      "full",
      `No disk space is left for ${file}; free some space and try again. Stored data is safe.`,
      cause,
    );
  }
  if (primary(errcode) === BUSY || primary(errcode) === LOCKED) {
    return new StoreError(
      "locked",
      `${file} is locked by another process; wait for that process or end it, then try again.`,
      cause,
    );
  }
  // The statements are correct, so an SQL error means a missing table, and a conflict means unreadable rows.
  if (isDamage(error) || primary(errcode) === ERROR || primary(errcode) === CONSTRAINT) {
    return new StoreError(
      "damaged",
      `${file} is damaged (${why}); replace the file with a backup. No other conversation is affected.`,
      cause,
    );
  }
  return new StoreError(
    "unusable",
    `${file} cannot be used (${why}); check that its directory exists and that you may write there.`,
    cause,
  );
}

/** Returns whether an error of SQLite means damaged content. */
export function isDamage(error: unknown): boolean {
  const { code, errcode } = codesOf(error);
  if (code === "ERR_OUT_OF_RANGE") return true; // An integer that no JavaScript program wrote.
  if (errcode === IO_READ) return true;
  return [CORRUPT, NOT_A_DATABASE, TOO_BIG].includes(primary(errcode));
}

function codesOf(error: unknown): { readonly code: unknown; readonly errcode: number } {
  const { code, errcode, message } = (error ?? {}) as { code?: unknown; errcode?: unknown; message?: unknown };
  if (typeof errcode === "number") return { code, errcode };
  return { code, errcode: code === "ERR_SQLITE_ERROR" ? codeOfMessage(String(message)) : 0 };
}

/** The result code of a message of SQLite, because Deno's errors have only the message. */
function codeOfMessage(message: string): number {
  return MESSAGES.find(([words]) => message.includes(words))?.[1] ?? 0;
}

const MESSAGES = [
  ["database is locked", BUSY],
  ["table is locked", LOCKED],
  ["disk image is malformed", CORRUPT],
  ["disk is full", FULL],
  ["too big", TOO_BIG],
  ["constraint failed", CONSTRAINT],
  ["not a database", NOT_A_DATABASE],
  ["no such table", ERROR],
  ["no such column", ERROR],
] as const;

function primary(errcode: number): number {
  return errcode & 0xff;
}
