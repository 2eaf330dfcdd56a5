import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Mutant } from "./mutant.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const VITEST = fileURLToPath(new URL("../../node_modules/vitest/vitest.mjs", import.meta.url));

interface Report {
  readonly numTotalTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly { readonly message: string }[];
}

/**
 * Runs the tests of a mutant like `npm test`. Returns the number of failures; 0 if the mutant survived. Throws if the
 * tests could not run, for example because the quick suite lacks them.
 */
export async function failuresWith(mutant: Mutant): Promise<number> {
  const file = join(tmpdir(), `mutant-${process.pid}-${crypto.randomUUID()}.json`);
  const config = [
    "--config",
    "scripts/mutants/vitest.config.ts",
    "--mode",
    "quick",
    "--maxWorkers=1",
    `--outputFile=${file}`,
  ];
  const { BANYAN_LONG: _long, ...env } = process.env;
  const child = spawn(process.execPath, [VITEST, "run", ...config, ...mutant.tests], {
    cwd: ROOT,
    env: { ...env, BANYAN_MUTANT: JSON.stringify(mutant) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (piece: Buffer) => {
    said += piece;
  });
  await once(child, "close");
  try {
    const report: Report = JSON.parse(await readFile(file, "utf8"));
    if (report.numTotalTests > 0) return report.numFailedTests;
    throw new Error(report.testResults.map(({ message }) => message).join("\n"));
  } catch (cause) {
    throw new Error(`The tests of ${mutant.file} did not run: ${said.slice(-2000)}`, { cause });
  } finally {
    await rm(file, { force: true });
  }
}
