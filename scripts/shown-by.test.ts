import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { PROMISE_ROWS } from "./promise-rows.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

test.each([
  ["docs/terminal.md", "cli"],
  ["docs/web.md", "web"],
])("the tests that a row of %s names carry its number", (file, own) => {
  const rows = PROMISE_ROWS.filter(({ page }) => page === file);
  expect(rows.length).toBeGreaterThan(43);
  const wrong = rows.flatMap(({ number, names, isOpen }) =>
    names.length === 0 && !isOpen
      ? [`${number} names no test`]
      : names
          .filter((name) => !new RegExp(String.raw`\b${number}\b`).test(testOf(name, own)))
          .map((name) => `${number}: ${name}`),
  );
  expect(wrong).toEqual([]);
});

/**
 * Returns the source of a test, in the table's package or in the package at the start of its path; empty if missing.
 */
function testOf(path: string, own: string): string {
  const [first = "", ...rest] = path.split("/");
  const places = [`packages/${own}/src/${path}`, `packages/${first}/src/${rest.join("/")}`];
  const files = places.flatMap((place) => [`${place}.test.ts`, `${place}.test.tsx`]);
  const file = files.find((candidate) => existsSync(root + candidate));
  return file === undefined ? "" : readFileSync(root + file, "utf8");
}
