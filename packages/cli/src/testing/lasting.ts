import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { expect } from "vitest";

/** A command that does not end by itself, and is unique on this machine, even in repeated tests. */
export function lasting(): string {
  return `sleep ${randomInt(100_000_000, 1_000_000_000)}`;
}

/** Waits until no process on this machine has the command in its command line. */
export async function hasEnded(command: string): Promise<void> {
  await expect.poll(() => spawnSync("pgrep", ["-f", command]).status).toBe(1);
}
