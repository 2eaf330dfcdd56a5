import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const made: string[] = [];

/** Creates a directory that is removed when the process ends. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "banyan-bench-"));
  if (made.length === 0) process.once("exit", removeAll);
  made.push(directory);
  return directory;
}

function removeAll(): void {
  // A process that was just ended may still be writing there.
  for (const directory of made) rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
}
