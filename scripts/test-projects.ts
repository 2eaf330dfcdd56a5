import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const TESTS = [
  "packages/*/src/**/*.test.{ts,tsx}",
  "scripts/**/*.test.ts",
  "bench/src/**/*.test.ts",
  "examples/src/**/*.test.ts",
];

/** What a test file, or a module that only tests import, contains if the test starts programs. */
const PROGRAMS = /from "(node:child_process|playwright-core)"/;

/** The same for tests that change what others of their process would see: mocked modules, and the exports of Node's modules. */
const CHANGES_MODULES = /\bvi\.(do)?[mM]ock\(|\bsyncBuiltinESMExports\(/;

/** The same for tests that start a browser, the `banyan` program, a database, or a program that is killed at each of its instants. */
const SLOW = /from "playwright-core"|\bBANYAN_TEST_PROGRAM\b|\bwhyNoPostgres\b|\bwholeProgram\(/;

/** Test files that take long for another reason. */
const SLOW_FILES: Readonly<Record<string, string>> = {
  "examples/src/examples.test.ts": "starts each example as a program",
  "packages/host/src/worktrees/histories.test.ts": "runs git some thousand times",
  "scripts/build/build.test.ts": "builds, installs and starts all packages",
  "scripts/install-once.test.ts": "runs npm some fifty times",
};

/** Packages so small and still that all their tests may share one process. */
const ENGINE = ["core", "protocol", "client", "models", "memory"];

/**
 * Which tests run: `quick` is `npm test`, `full` is `npm run test:full` and has all that `quick` leaves out, `all` is both.
 */
export type Suite = "quick" | "full" | "all";

/**
 * The test files of a suite, in groups that may each have one process for many files; those of the group `alone` need one each.
 *
 * Half of what a short file costs is the start of a process and its imports: files of one package share both if they restore
 * what they change. Files that start programs do not share: starting a program takes longer the more memory a process has.
 * Files outside of packages do not share either, because they have little in common.
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
  if (name === "" || says(join(root, file), CHANGES_MODULES)) return "alone";
  if (ENGINE.includes(name)) return "engine";
  return says(join(root, file), PROGRAMS) ? "alone" : name;
}

/** Whether a module contains `what`, or one of the modules that it imports and that only tests import. */
function says(module: string, what: RegExp, seen = new Set<string>()): boolean {
  if (seen.has(module) || !existsSync(module)) return false;
  seen.add(module);
  const text = readFileSync(module, "utf8");
  if (what.test(text)) return true;
  const imported = [...text.matchAll(/from "(\.[^"]+)"/g)].map(([, path = ""]) => join(dirname(module), path));
  return imported.some((other) => ONLY_FOR_TESTS.test(other) && says(other, what, seen));
}

const ONLY_FOR_TESTS = /\.fixture\.tsx?$|[/\\]testing[/\\]/;
