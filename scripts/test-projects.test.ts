import { join } from "node:path";
import { expect, test } from "vitest";
import { testFiles } from "./test-projects.ts";

const groups = testFiles(join(import.meta.dirname, ".."));

test("a file of tests has a process with others of its package, unless it or its fixtures start programs", () => {
  expect(groups.engine).toContain("packages/core/src/run/limits.test.ts");
  expect(groups.server).toContain("packages/server/src/turns.test.ts");
  expect(groups.alone).toEqual(
    expect.arrayContaining([
      "packages/cli/src/print/print.test.ts",
      "packages/cli/src/chat/approvals.test.ts",
      "packages/web/src/stream.browser.test.ts",
      "packages/store/src/testing/crash-matrix/crash-matrix.test.ts",
      "scripts/test-projects.test.ts",
    ]),
  );
});

test("one that changes modules has a process of its own", () => {
  expect(groups.alone).toEqual(
    expect.arrayContaining([
      "packages/tools/src/symbols/several-finders.test.ts",
      "packages/web/src/transcript/rendered-markdown.test.tsx",
    ]),
  );
});

test("each file is in one group", () => {
  const files = Object.values(groups).flat();
  expect(files.length).toBeGreaterThan(500);
  expect(new Set(files).size).toBe(files.length);
});
