import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

test.each([
  ["docs/terminal.md", "T", 43, "cli"],
  ["docs/web.md", "W", 47, "web"],
])("%s has a line for each of its numbers, and the tests that it names carry them", (file, letter, count, own) => {
  const rows = readFileSync(root + file, "utf8").matchAll(
    new RegExp(String.raw`^\| (${letter}\d+) \|.*\| ([^|]+) \|$`, "gm"),
  );
  const shown = [...rows].map(([, number = "", tests = ""]) => ({ number, tests: tests.split(", ") }));
  const numbers = shown.map(({ number }) => Number(number.slice(1)));
  expect(numbers.slice(0, count)).toEqual(Array.from({ length: count }, (_, index) => index + 1));
  // Of those that came later some are there, in their order.
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  const wrong = shown.flatMap(({ number, tests }) =>
    tests
      .filter((name) => !new RegExp(String.raw`\b${number}\b`).test(testOf(name, own)))
      .map((name) => `${number}: ${name}`),
  );
  expect(wrong).toEqual([]);
});

/** The text of a test that a table names, in the package of the table or in the one that its path begins with; empty when there is none. */
function testOf(name: string, own: string): string {
  const [, path = ""] = /^`([^`]+)`$/.exec(name) ?? [];
  const [first = "", ...rest] = path.split("/");
  const places = [`packages/${own}/src/${path}`, `packages/${first}/src/${rest.join("/")}`];
  const files = places.flatMap((place) => [`${place}.test.ts`, `${place}.test.tsx`]);
  const file = files.find((candidate) => existsSync(root + candidate));
  return file === undefined ? "" : readFileSync(root + file, "utf8");
}
