import { globSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Files with fewer lines are small. Comments do not count: a removed comment makes no file small. */
const SMALL = 40;

/**
 * The current number: a new small file replaces another, or belongs in its concept's file. The last two are the list of
 * approval modes, which programs load without the schemas of the protocol, and the bound on levels of Markdown.
 */
const MOST = 210;

/** Every entry of a package has a file, however short. */
const entries = new Set(
  globSync("packages/*/package.json", { cwd: root }).flatMap((file) => {
    const { exports = {} }: { exports?: Record<string, string> } = JSON.parse(readFileSync(root + file, "utf8"));
    return Object.values(exports).map((source) => posix.join(posix.dirname(file), source));
  }),
);

test("H12: a file is there for a concept and not for a function: few are small", () => {
  const files = globSync("packages/*/src/**/*.{ts,tsx}", { cwd: root }).filter(
    (path) => !/\.test\.tsx?$|\.fixture\.tsx?$|\/testing\//.test(path) && !entries.has(path),
  );
  expect(files.length).toBeGreaterThan(500);
  const linesOf = (path: string) =>
    readFileSync(root + path, "utf8")
      .split("\n")
      .slice(0, -1);
  const small = files.filter((path) => linesOf(path).filter((line) => !/^\s*(\/\/|\/?\*)/.test(line)).length < SMALL);
  expect(small.length).toBeLessThanOrEqual(MOST);
});
