import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const TESTS = [
  "packages/*/src/**/*.test.{ts,tsx}",
  "scripts/**/*.test.ts",
  "bench/src/**/*.test.ts",
  "examples/src/**/*.test.ts",
];

/** What a file or what it imports says when a test starts programs. */
const PROGRAMS = /from "(node:child_process|playwright-core)"/;

/** Tests that change what others of their process would see: modules that are mocked, and what Node's modules export. */
const CHANGES_MODULES = /\bvi\.(do)?[mM]ock\(|\bsyncBuiltinESMExports\(/;

/** Packages so small and still that all their tests may have one process. */
const ENGINE = ["core", "protocol", "models", "memory"];

/**
 * The files of tests, in groups that may each have one process for many files; those of the group `alone` want one each.
 *
 * Half of what a short file costs is the start of a process and what it imports: files of one package share both, where they
 * put back what they change. Not those that start programs: to start one takes longer the more memory a process has, and
 * theirs would have much; nor those outside of packages, each of which does something else.
 */
export function testFiles(root: string): Readonly<Record<string, string[]>> {
  const files = globSync(TESTS, { cwd: root }).sort();
  return Object.groupBy(files, (file) => groupOf(root, file)) as Record<string, string[]>;
}

function groupOf(root: string, file: string): string {
  const [, name = ""] = /^packages.([^/\\]+)/.exec(file) ?? [];
  if (name === "" || says(join(root, file), CHANGES_MODULES)) return "alone";
  if (ENGINE.includes(name)) return "engine";
  return says(join(root, file), PROGRAMS) ? "alone" : name;
}

/** Whether a module says it, or one that only tests import, by its path. */
function says(module: string, what: RegExp, seen = new Set<string>()): boolean {
  if (seen.has(module) || !existsSync(module)) return false;
  seen.add(module);
  const text = readFileSync(module, "utf8");
  if (what.test(text)) return true;
  const imported = [...text.matchAll(/from "(\.[^"]+)"/g)].map(([, path = ""]) => join(dirname(module), path));
  return imported.some((other) => ONLY_FOR_TESTS.test(other) && says(other, what, seen));
}

const ONLY_FOR_TESTS = /\.fixture\.tsx?$|[/\\]testing[/\\]/;
