import { hostname } from "node:os";
import { basename } from "node:path";
import type { Writer } from "../refusal.ts";

/** Who writes to a conversation, as its file says it. */
export interface FileOwner extends Writer {
  /** Names the lock that the owner holds while it lives. */
  readonly lock: string;
}

/** This process, as the owner of what it opens now under a lock. */
export function thisOwner(lock: string, program: string | undefined): FileOwner {
  const started = basename(process.argv[1] ?? process.execPath);
  return { lock, program: program ?? started, process: process.pid, host: hostname(), since: Date.now() };
}

/** The owner in a file; nothing when it was released, or is not what was written. */
export function ownerFrom(text: unknown): FileOwner | undefined {
  try {
    const { lock, program, process, host, since } = JSON.parse(String(text));
    const whole = typeof program === "string" && typeof host === "string" && Number.isSafeInteger(process);
    // A lock's name becomes a file name.
    if (!whole || typeof lock !== "string" || !/^[0-9a-z]+$/.test(lock) || !Number.isSafeInteger(since)) return;
    return { lock, program, process, host, since };
  } catch {
    // Not JSON: whoever this was, its epoch counts, and it is fenced off by the next.
    return;
  }
}
