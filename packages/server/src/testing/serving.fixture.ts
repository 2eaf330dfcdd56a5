import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentOptions } from "@banyan/core";
import { onTestFinished } from "vitest";
import { type Served, type ServedOptions, served } from "./served.fixture.ts";

export { TOKEN } from "./served.fixture.ts";

/** A temporary directory that is removed when the test ends. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "banyan-server-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** A server on its own port, with a real store; both end with the test. */
export async function serving(options: AgentOptions, more: Partial<ServedOptions> = {}): Promise<Served> {
  const site = await served(options, { directory: temporaryDirectory(), ...more });
  onTestFinished(() => site[Symbol.asyncDispose]());
  return site;
}
