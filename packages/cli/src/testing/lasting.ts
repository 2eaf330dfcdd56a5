import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { expect } from "vitest";

/** A command that does not end by itself, and is like no other on this machine, also where the same test runs twice. */
export function lasting(): string {
  return `sleep ${randomInt(100_000_000, 1_000_000_000)}`;
}

/** Waits until no process of this machine has a command in its line any more. */
export async function hasEnded(command: string): Promise<void> {
  await expect.poll(() => spawnSync("pgrep", ["-f", command]).status).toBe(1);
}
