import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { all } from "./attack/all.ts";
import type { Attack } from "./attack/attack.ts";
import { PROMISE_ROWS } from "./promise-rows.ts";

const root = join(import.meta.dirname, "..");

const rows = Array.from(
  readFileSync(join(root, "docs/security.md"), "utf8").matchAll(/^\| (S\d+) \|.*\| ([^|]+) \| (\d+) \|$/gm),
  ([, rule = "", tests = "", attacks = ""]) => ({ rule, tests: tests.split(", "), attacks: Number(attacks) }),
);

test("docs/security.md has a row for each rule that is attacked", () => {
  expect(rows.map(({ rule }) => rule)).toEqual(
    PROMISE_ROWS.filter(({ page }) => page === "docs/security.md").map(({ number }) => number),
  );
  expect([...all.keys()].filter((rule) => !rows.some((row) => row.rule === rule))).toEqual([]);
});

test.each(rows)("the tests that docs/security.md names for $rule carry it", ({ rule, tests }) => {
  expect(tests.filter((name) => !new RegExp(String.raw`\b${rule}\b`).test(testOf(name)))).toEqual([]);
});

test.each(rows)("docs/security.md counts the attacks on $rule", async ({ rule, attacks }) => {
  const file = all.get(rule);
  const known: readonly Attack[] = file === undefined ? [] : (await import(file.href)).attacks;
  expect(attacks).toBe(known.length);
});

/** Returns the source of a package's test, as in `server/security`; empty if missing. */
function testOf(name: string): string {
  const [, own = "", path = ""] = /^`([^/`]+)\/([^`]+)`$/.exec(name) ?? [];
  const file = join(root, "packages", own, "src", `${path}.test.ts`);
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}
