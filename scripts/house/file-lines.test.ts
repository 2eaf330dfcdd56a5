import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Maximum lines of a file: code, comments and empty lines. */
const MOST = 400;

/** Longer files, with their maximum. A file that becomes short enough leaves the list. */
const LONGER: Readonly<Record<string, number>> = {
  // The tests of a file share their setup.
  "packages/cli/src/terminal/full/views/lists.test.ts": 419,
  "packages/core/src/context/background-summary.test.ts": 454,
  "packages/core/src/past/recovery.test.ts": 402,
  "packages/telemetry/src/telemetry.test.ts": 413,
  "scripts/build/build.test.ts": 419,
};

test("H19: a file has at most 400 lines, with comments and empty lines", () => {
  const files = globSync("{packages/*/src,scripts,bench/src,examples/src}/**/*.{ts,tsx}", { cwd: root });
  expect(files.length).toBeGreaterThan(1_000);
  const long = files.flatMap((path) => {
    const lines = readFileSync(root + path, "utf8").split("\n").length - 1;
    return lines > MOST ? [[path.replaceAll("\\", "/"), lines] as const] : [];
  });
  expect(long.filter(([path, lines]) => lines > (LONGER[path] ?? MOST))).toEqual([]);
  expect(Object.keys(LONGER).filter((path) => !long.some(([each]) => each === path))).toEqual([]);
});
