import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/**
 * The page, built as published, in the temporary folder of the test run. The first test file builds it for all; the others wait.
 */
export async function builtPage(): Promise<string> {
  const page = join(tmpdir(), `banyan-page-${process.ppid}`);
  const claim = `${page}-claim`;
  try {
    mkdirSync(claim);
  } catch (cause) {
    // Another test file is building it.
    while (!existsSync(page)) {
      if (!existsSync(claim)) throw new Error("The page could not be built: see the tests of another file.", { cause });
      await sleep(50);
    }
    return page;
  }
  try {
    const outDir = `${page}-building`;
    const root = fileURLToPath(new URL("../..", import.meta.url));
    // Vitest's NODE_ENV would change the libraries: the page must equal the published one.
    const { NODE_ENV } = process.env;
    process.env.NODE_ENV = "production";
    // Loaded only by the builder, because loading takes a second of processor time.
    const { build } = await import("vite");
    await build({ root, mode: "production", logLevel: "error", build: { outDir, emptyOutDir: true } });
    process.env.NODE_ENV = NODE_ENV;
    renameSync(outDir, page);
  } catch (error) {
    rmSync(claim, { recursive: true });
    throw error;
  }
  return page;
}
