import { join } from "node:path";
import { expect, test } from "vitest";
import { MUTANTS } from "./mutants/list.ts";
import { testFiles } from "./test-projects.ts";

const root = join(import.meta.dirname, "..");
const groups = testFiles(root);
const quick = Object.values(testFiles(root, "quick")).flat();
const full = Object.values(testFiles(root, "full")).flat();

test("a file of tests has a process with others of its package, unless it or its fixtures start programs", () => {
  expect(groups.engine).toContain("packages/core/src/run/limits.test.ts");
  expect(groups.server).toContain("packages/server/src/turns.test.ts");
  expect(groups.alone).toEqual(
    expect.arrayContaining([
      "packages/cli/src/print/print.test.ts",
      "packages/cli/src/chat/user/approvals.test.ts",
      "packages/web/src/stream.browser.test.ts",
      "packages/store/src/testing/crash-matrix/crash-matrix.test.ts",
      "scripts/test-projects.test.ts",
    ]),
  );
});

test("a file that changes modules or measures memory has a process of its own", () => {
  expect(groups.alone).toEqual(
    expect.arrayContaining([
      "packages/core/src/agent/endless.test.ts",
      "packages/desk/src/live/live-chats.test.ts",
      "packages/tools/src/symbols/several-finders.test.ts",
      "packages/web/src/transcript/markdown/rendered-markdown.test.tsx",
    ]),
  );
});

test("each file is in one group", () => {
  const files = Object.values(groups).flat();
  expect(files.length).toBeGreaterThan(500);
  expect(new Set(files).size).toBe(files.length);
});

test("what starts a browser, the program, a database or a program again and again is in the full suite, and nothing is in both", () => {
  expect([...quick, ...full].sort()).toEqual(Object.values(groups).flat().sort());
  expect(full).toEqual(
    expect.arrayContaining([
      "packages/cli/src/main.test.ts",
      "packages/cli/src/print/print.test.ts",
      "packages/server/src/cluster/cluster.test.ts",
      "packages/store/src/postgres/store.test.ts",
      "packages/store/src/testing/crash-matrix/expedition.test.ts",
      "packages/web/src/page.browser.test.ts",
      "scripts/build/build.test.ts",
      "scripts/four-screens/four-screens.test.ts",
    ]),
  );
  expect(quick).toEqual(
    expect.arrayContaining([
      "packages/cli/src/print/answer-alone.test.ts",
      "packages/server/src/security.test.ts",
      "packages/store/src/sqlite/store.test.ts",
      "packages/tools/src/sandbox/sandbox.test.ts",
      "scripts/test-projects.test.ts",
    ]),
  );
});

test("F31: the tests that kill a mutant are in the quick suite, so that none survives `npm test` alone", () => {
  expect(MUTANTS.flatMap(({ tests }) => tests).filter((file) => !quick.includes(file))).toEqual([]);
});
