import { hostname } from "node:os";
import { basename } from "node:path";
import type { LogWriter } from "../log/refusal.ts";

/** The writer of a conversation, as recorded in its file. */
export interface FileOwner extends LogWriter {
  /** The name of the lock that the owner holds while its process lives. */
  readonly lock: string;
}

/** Describes this process as the writer of the files that it opens. */
export function thisOwner(lock: string, program: string | undefined): FileOwner {
  const started = basename(process.argv[1] ?? process.execPath);
  return { lock, program: program ?? started, process: process.pid, host: hostname(), since: Date.now() };
}

/** Parses the writer that a file records. Returns `undefined` for a file without a writer or damaged text. */
export function ownerFrom(text: unknown): FileOwner | undefined {
  try {
    const { lock, program, process, host, since } = JSON.parse(String(text));
    const whole = typeof program === "string" && typeof host === "string" && Number.isSafeInteger(process);
    // The lock's name is used as a file name.
    if (!whole || typeof lock !== "string" || !/^[0-9a-z]+$/.test(lock) || !Number.isSafeInteger(since)) return;
    return { lock, program, process, host, since };
  } catch {
    // The epoch still counts, so the next epoch excludes this owner.
    return;
  }
}
