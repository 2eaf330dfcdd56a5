import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));
const reporter = fileURLToPath(new URL("closing-line.ts", import.meta.url));
const ci = fileURLToPath(new URL("../.ci/run", import.meta.url));

function closingLineOf(files: Record<string, string>) {
  const root = mkdtempSync(join(tmpdir(), "suite-"));
  for (const [name, source] of Object.entries(files)) writeFileSync(join(root, name), source);
  const args = [vitest, "run", "--globals", "--root", root, "--reporter=default", `--reporter=${reporter}`];
  const { stdout, status } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
  return { stdout, line: stdout.trimEnd().split("\n").at(-1), status };
}

test("a run that passed ends with its count alone on the last line", () => {
  const files = { "a.test.ts": 'test("one", () => {}); test("two", () => {});' };
  expect(closingLineOf(files)).toMatchObject({ line: "2 passed, 0 failed", status: 0 });
});

test("failing tests, files that do not load and skipped tests are counted", () => {
  const files = {
    "a.test.ts": 'test("one", () => {}); test("two", () => { throw new Error("no"); }); test.skip("three", () => {});',
    "b.test.ts": 'throw new Error("does not load");',
  };
  expect(closingLineOf(files)).toMatchObject({ line: "1 passed, 2 failed, 1 skipped", status: 1 });
});

test("a test that failed and then passed is named before the count", () => {
  const fails = 'let tries = 0; test("sometimes", { retry: 1 }, () => { if (tries++ === 0) throw new Error("no"); });';
  const { stdout, line, status } = closingLineOf({ "a.test.ts": fails });
  expect({ line, status }).toEqual({ line: "1 passed, 0 failed", status: 0 });
  expect(stdout).toContain("\nPassed only when tried again: a.test.ts > sometimes\n");
});

function ciRun(scripts: { readonly test: string; readonly "test:full": string }) {
  const root = mkdtempSync(join(tmpdir(), "ci-"));
  const bin = join(root, "bin");
  mkdirSync(bin);
  for (const name of ["rg", "tmux", "bwrap", "socat", "chromium-headless-shell"])
    writeFileSync(join(bin, name), "", { mode: 0o755 });
  cpSync(ci, join(root, ".ci", "run"));
  writeFileSync(join(root, "package.json"), JSON.stringify({ scripts }));
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}`, npm_config_loglevel: "silent" };
  const { stdout, status } = spawnSync("bash", [join(root, ".ci", "run")], { cwd: root, env, encoding: "utf8" });
  return { lines: stdout.trimEnd().split("\n"), status };
}

describe.skipIf(process.platform === "win32")(".ci/run ends with the sums of both suites", () => {
  const passed = "echo 2 passed, 0 failed";

  test.each([
    ["both pass", passed, "echo 30 passed, 0 failed, 4 skipped", "32 passed, 0 failed, 4 skipped", 0],
    ["both fail", "echo 2 passed, 1 failed; exit 1", "echo 3 passed, 5 failed; exit 1", "5 passed, 6 failed", 1],
    ["the check before the tests fails", "echo wrong; exit 1", passed, "2 passed, 1 failed", 1],
    ["a suite fails in spite of its count", passed, `${passed}; exit 1`, "4 passed, 1 failed", 1],
    ["a suite has no count", passed, "echo done", "2 passed, 1 failed", 1],
  ])("when %s", (_name, first, second, line, status) => {
    const run = ciRun({ test: first, "test:full": second });
    expect([run.lines.at(-1), run.status]).toEqual([line, status]);
    expect(run.lines).toContain(/echo ([^;]+)/.exec(second)?.[1]);
  });

  test("after the names of the tests that failed, without colours", () => {
    const failing = (name: string) =>
      `printf '\\033[41m FAIL \\033[49m ${name}\\n' >&2; echo 1 passed, 1 failed; exit 1`;
    const run = ciRun({ test: failing("a.test.ts > one"), "test:full": failing("b.test.ts > two") });
    expect(run.lines.slice(-3)).toEqual([" FAIL  a.test.ts > one", " FAIL  b.test.ts > two", "2 passed, 2 failed"]);
  });
});
