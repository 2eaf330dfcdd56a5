import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/** A package from PyPI for the tests of a file, or the reason why the tests are skipped, for their names. */
export interface PythonPackage {
  readonly path?: string;
  readonly whyNot: string;
}

/** Installs a package for the tests of this file, in long mode and if python3 can. */
export function pythonPackage(...named: readonly string[]): PythonPackage {
  const [name = ""] = named;
  if (!process.env.BANYAN_LONG)
    return { whyNot: " (left out: it installs a package, and runs with npm run test:long)" };
  const path = mkdtempSync(join(tmpdir(), "banyan-python-"));
  afterAll(() => rmSync(path, { recursive: true, force: true }));
  const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", path, ...named];
  const { status } = spawnSync("python3", install, { timeout: 120_000 });
  return status === 0 ? { path, whyNot: "" } : { whyNot: ` (left out: python3 cannot install ${name} here)` };
}
