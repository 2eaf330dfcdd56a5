import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { numbersProvedIn, PROMISE_ROWS } from "./promise-rows.ts";
import { type Suite, testFiles } from "./test-projects.ts";

const ROOT = join(import.meta.dirname, "..");

/** Pages whose last column names product files. On other pages, the last column names tests, or is missing. */
const NAMES_FILES = ["docs/promises.md", "docs/editing.md"];

function provedBy(suite: Suite): ReadonlySet<string> {
  const files = Object.values(testFiles(ROOT, suite)).flat();
  return new Set(files.flatMap((file) => numbersProvedIn(readFileSync(join(ROOT, file), "utf8"))));
}

const proved = provedBy("all");

describe("numbered promises", () => {
  test("are known for each series that has a page", () => {
    for (const series of "ABCFKSTW") {
      expect(PROMISE_ROWS.filter(({ number }) => number.startsWith(series)).length, series).toBeGreaterThan(10);
    }
  });

  test("are unique, and rise below each heading", () => {
    const numbers = PROMISE_ROWS.map(({ number }) => number);
    expect(numbers.filter((number, index) => numbers.indexOf(number) !== index)).toEqual([]);
    const parts = Map.groupBy(PROMISE_ROWS, ({ page, heading, number }) => `${page} ${heading} ${number.charAt(0)}`);
    for (const [part, rows] of parts) {
      const here = rows.map(({ number }) => Number(number.slice(1)));
      expect(here, part).toEqual(here.toSorted((a, b) => a - b));
    }
  });

  test("each has a test whose name begins with its number, unless its last cell is empty: then nothing is promised", () => {
    const unproved = PROMISE_ROWS.filter(({ number, isOpen }) => !isOpen && !proved.has(number));
    expect(unproved.map(({ number }) => number)).toEqual([]);
  });

  test("a number that a test begins with has a row", () => {
    const known = new Set(PROMISE_ROWS.map(({ number }) => number));
    expect([...proved].filter((number) => !known.has(number))).toEqual([]);
  });

  test("of the series B, F and S are each proved by `npm test`: the full suite must not be needed", () => {
    const quick = provedBy("quick");
    const needed = PROMISE_ROWS.filter(({ number }) => /^[BFS]/.test(number));
    expect(needed.flatMap(({ number }) => (quick.has(number) ? [] : number))).toEqual([]);
  });

  test("count as proved only by tests that do not need long mode", () => {
    // Each "#" replaces a letter, so that these numbers prove nothing.
    const source = `
      test.runIf(process.env.BANYAN_LONG === "1")(
        "#31: in long mode",
      test.skipIf(!isLong)("#32: in long mode"
      test.runIf(canTrace)("#33: where it can be traced"
      test("#21, #25: two", () => {});
      test.each([1])(\`#5: %s\`, () => {});`;
    expect(numbersProvedIn(source.replaceAll("#", "F"))).toEqual(["F33", "F21", "F25", "F5"]);
  });

  test.each(PROMISE_ROWS.filter(({ page }) => NAMES_FILES.includes(page)))(
    "$number names files of the product that are there",
    ({ names }) => {
      expect(names.length).toBeGreaterThan(0);
      expect(names.filter((name) => !existsSync(join(ROOT, "packages", name)))).toEqual([]);
    },
  );
});
