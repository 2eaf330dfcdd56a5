import { hostname } from "node:os";
import { basename } from "node:path";
import type { LogWriter } from "../log/refusal.ts";

/** The owner of a conversation, as its file records the owner. */
export interface FileOwner extends LogWriter {
  /** The name of the lock that the owner holds while it lives. */
  readonly lock: string;
}

/** Returns this process as the owner of files that it opens under a lock. */
export function thisOwner(lock: string, program: string | undefined): FileOwner {
  const started = basename(process.argv[1] ?? process.execPath);
  return { lock, program: program ?? started, process: process.pid, host: hostname(), since: Date.now() };
}

/** Parses the owner in a file; undefined if released or damaged. */
export function ownerFrom(text: unknown): FileOwner | undefined {
  try {
    const { lock, program, process, host, since } = JSON.parse(String(text));
    const whole = typeof program === "string" && typeof host === "string" && Number.isSafeInteger(process);
    // The lock's name is used as a file name.
    if (!whole || typeof lock !== "string" || !/^[0-9a-z]+$/.test(lock) || !Number.isSafeInteger(since)) return;
    return { lock, program, process, host, since };
  } catch {
    // Not JSON: the owner is unknown, but its epoch counts, and the next epoch fences this owner off.
    return;
  }
}
