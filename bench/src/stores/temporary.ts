import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A directory that goes when the process ends. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "banyan-bench-"));
  process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
