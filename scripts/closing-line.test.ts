import { spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));
const reporter = fileURLToPath(new URL("closing-line.ts", import.meta.url));

function closingLineOf(files: Record<string, string>): { line: string | undefined; status: number | null } {
  const root = mkdtempSync(join(tmpdir(), "suite-"));
  for (const [name, source] of Object.entries(files)) writeFileSync(join(root, name), source);
  const args = [vitest, "run", "--globals", "--root", root, "--reporter=default", `--reporter=${reporter}`];
  const { stdout, status } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
  return { line: stdout.trimEnd().split("\n").at(-1), status };
}

test("a run that passed ends with its count alone on the last line", () => {
  const files = { "a.test.ts": 'test("one", () => {}); test("two", () => {});' };
  expect(closingLineOf(files)).toEqual({ line: "2 passed, 0 failed", status: 0 });
});

test("failing tests, files that do not load and skipped tests are counted", () => {
  const files = {
    "a.test.ts": 'test("one", () => {}); test("two", () => { throw new Error("no"); }); test.skip("three", () => {});',
    "b.test.ts": 'throw new Error("does not load");',
  };
  expect(closingLineOf(files)).toEqual({ line: "1 passed, 2 failed, 1 skipped", status: 1 });
});
