import { expect, test } from "vitest";
import { readClaims, wrongClaims } from "./claims.ts";
import { measures } from "./measures/index.ts";
import type { Row } from "./results.ts";

const page = [
  "| measure | target | result | remarks |",
  "|---|---|---|---|",
  "| walk ÷ horse <!-- bench: walk / time / snail ÷ horse --> | 2 | **1.5** | A hill of 9 m. |",
  "| walk: bytes, time <!-- bench: walk / bytes / snail; walk / time / snail --> | | 1,500, 0.07 | |",
  "| jump | 3 | 4 | |",
].join("\n");

const row = (figure: string, median: number, ratio: number): Row => {
  return { figure, unit: "", subject: "snail", median, least: median, most: median, ratios: { horse: ratio } };
};

test("V10: a row of the page claims the figures that its comment names", () => {
  expect(readClaims(page)).toEqual([
    { measure: "walk", figure: "time", subject: "snail", of: "horse", value: 1.5 },
    { measure: "walk", figure: "bytes", subject: "snail", value: 1500 },
    { measure: "walk", figure: "time", subject: "snail", value: 0.07 },
  ]);
  expect(() => readClaims("| a <!-- bench: walk / time / snail --> | 1 | 2, 3 | |")).toThrow(/1 figures.*2 numbers/);
});

test("V10: a claim is wrong if the run's figure is clearly worse, and unchecked without the figure", () => {
  const claims = readClaims(page);
  expect(wrongClaims("walk", [row("time", 0.1, 2), row("bytes", 1600, 2)], claims)).toEqual([]);
  expect(wrongClaims("walk", [row("time", 1, 2.5)], claims)).toEqual([
    "docs/performance.md claims 1.5 for time, snail ÷ horse, but this run has 2.5.",
    "docs/performance.md claims 0.07 for time, snail, but this run has 1.",
  ]);
  expect(wrongClaims("jump", [row("time", 9, 9)], claims)).toEqual([]);
});

test("V10: each claim of the page names a figure that bench measures", () => {
  const claims = readClaims();
  expect(claims.length).toBeGreaterThan(20);
  for (const { measure, figure, subject, of } of claims) {
    const known = measures.find(({ name }) => name === measure);
    expect(known, measure).toBeDefined();
    expect(
      known?.figures.map(({ name }) => name),
      measure,
    ).toContain(figure);
    expect(known?.subjects, measure).toContain(subject);
    if (of !== undefined) expect([...(known?.bounds ?? []), "best peer"], measure).toContain(of);
  }
});
