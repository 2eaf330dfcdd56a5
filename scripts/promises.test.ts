import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const page = readFileSync(new URL("../docs/promises.md", import.meta.url), "utf8");
const rows = [...page.matchAll(/^\| ([BCF]\d+) \| .+ \| (.+) \|$/gm)].map(([, number = "", where = ""]) => ({
  number,
  files: [...where.matchAll(/`([^`]+)`/g)].map(([, file = ""]) => file),
}));

/** The numbers that names of tests begin with, alone or in a list, as "B21, F25: ..." and "F7 ..." have them. */
const NUMBERS = "[ABCFSTW][0-9]+(, [ABCFSTW][0-9]+)*";
const proved = new Set(
  execFileSync("git", ["grep", "-hoEI", `\\b${NUMBERS}:|"${NUMBERS} `, "--", "*.test.ts", "*.test.tsx"], {
    cwd: root,
    encoding: "utf8",
  }).match(/\b[ABCF]\d+\b/g),
);

describe("docs/promises.md", () => {
  test("has each number once, in rising order below each heading", () => {
    const numbers = rows.map(({ number }) => number);
    for (const [kind, count] of Object.entries({ B: 83, C: 16, F: 43 })) {
      const ofKind = numbers.flatMap((number) => (number.startsWith(kind) ? Number(number.slice(1)) : []));
      expect(ofKind.toSorted((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, index) => index + 1));
    }
    for (const part of page.split(/^## /m)) {
      const here = [...part.matchAll(/^\| [BCF](\d+)/gm)].map(([, number]) => Number(number));
      expect(here).toEqual(here.toSorted((a, b) => a - b));
    }
  });

  test.each(rows)("$number names files that are there, and a test bears it", ({ number, files }) => {
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) expect(existsSync(new URL(`../packages/${file}`, import.meta.url)), file).toBe(true);
    expect(proved.has(number), `no test begins with ${number}`).toBe(true);
  });
});

test("docs/editors.md has each rule of the protocol once, in order, and a test bears its number", () => {
  const editors = readFileSync(new URL("../docs/editors.md", import.meta.url), "utf8");
  const rules = [...editors.matchAll(/^\| (A\d+) \|/gm)].map(([, number = ""]) => number);
  expect(rules).toEqual(Array.from({ length: 14 }, (_, index) => `A${index + 1}`));
  expect(rules.filter((rule) => !proved.has(rule))).toEqual([]);
});
