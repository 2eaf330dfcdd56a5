import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const TESTS = [
  "packages/*/src/**/*.test.{ts,tsx}",
  "scripts/**/*.test.ts",
  "bench/src/**/*.test.ts",
  "examples/src/**/*.test.ts",
];

/** Matches a test file, or a module for tests, that starts programs. */
const PROGRAMS = /from "(node:child_process|playwright-core)"/;

/** Matches tests with effects on other tests of the process: mocked modules, and changed exports of Node's modules. */
const CHANGES_MODULES = /\bvi\.(do)?[mM]ock\(|\bsyncBuiltinESMExports\(/;

/** Matches tests that measure the memory of their process, which other tests of the process change. */
const MEASURES_MEMORY = /\bgetHeapStatistics\(|\bmemoryUsage\(/;

/** Matches tests that start a browser, `banyan`, a database, or a program that is killed at each of its instants. */
const SLOW = /from "playwright-core"|\bBANYAN_TEST_PROGRAM\b|\bwhyNoPostgres\b|\bwholeProgram\(/;

const SLOW_FILES: Readonly<Record<string, string>> = {
  "bench/src/edge/edge.test.ts": "starts a browser and package managers, in long mode",
  "examples/src/compared/compared.test.ts": "starts seven programs",
  "examples/src/examples.test.ts": "starts each example as a program",
  "packages/host/src/goals/lies.test.ts": "plays two hundred lying models, which run some thousand commands",
  "packages/host/src/worktrees/histories.test.ts": "runs git some thousand times",
  "packages/tools/src/workspace/snapshots/histories.test.ts": "makes and restores some thousand snapshots",
  "packages/tools/src/workspace/snapshots/killed.test.ts": "starts some hundred programs",
  "scripts/build/build.test.ts": "builds, installs and starts all packages",
  "scripts/install-once.test.ts": "runs npm some fifty times",
};

/** Packages whose tests may share one process, because they are small and have no side effects. */
const ENGINE = ["core", "protocol", "client", "models", "memory"];

/** The tests to run: `quick` for `npm test`, `full` for the other tests in `npm run test:full`, `all` for both. */
export type Suite = "quick" | "full" | "all";

/**
 * Returns the test files of a suite in groups. The files of a group may share a process, except in the group `alone`.
 * Half the cost of a short file is the start of a process and its imports, so files of one package share both if they
 * restore their changes. Files that start programs do not share: starting a program takes longer in a larger process.
 * Files outside of packages do not share, because they have little in common.
 */
export function testFiles(root: string, suite: Suite = "all"): Readonly<Record<string, string[]>> {
  const files = globSync(TESTS, { cwd: root })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => suite === "all" || isQuick(root, file) === (suite === "quick"))
    .sort();
  return Object.groupBy(files, (file) => groupOf(root, file)) as Record<string, string[]>;
}

function isQuick(root: string, file: string): boolean {
  return !(file in SLOW_FILES) && !says(join(root, file), SLOW);
}

function groupOf(root: string, file: string): string {
  const [, name = ""] = /^packages\/([^/]+)/.exec(file) ?? [];
  if (name === "" || [CHANGES_MODULES, MEASURES_MEMORY].some((what) => says(join(root, file), what))) return "alone";
  if (ENGINE.includes(name)) return "engine";
  return says(join(root, file), PROGRAMS) ? "alone" : name;
}

/** Returns whether a module, or a module for tests that it imports, contains `what`. */
function says(module: string, what: RegExp, seen = new Set<string>()): boolean {
  if (seen.has(module) || !existsSync(module)) return false;
  seen.add(module);
  const text = readFileSync(module, "utf8");
  if (what.test(text)) return true;
  const imported = [...text.matchAll(/from "(\.[^"]+)"/g)].map(([, path = ""]) => join(dirname(module), path));
  return imported.some((other) => ONLY_FOR_TESTS.test(other) && says(other, what, seen));
}

const ONLY_FOR_TESTS = /\.fixture\.tsx?$|[/\\]testing[/\\]/;
