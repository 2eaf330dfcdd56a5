import { expect, test } from "vitest";
import { claimsIn, readClaims, wrongClaims } from "./claims.ts";
import { measures } from "./measures/index.ts";
import type { Row } from "./results.ts";

const page = [
  "| measure | target | result | remarks |",
  "|---|---|---|---|",
  "| walk ÷ horse | 2 | **1.5** <!-- bench: walk / time / snail ÷ horse --> | A hill of 9 m. |",
  "| walk: bytes, time | | 1,500, 0.07 <!-- bench: walk / bytes / snail; walk / time / snail --> | |",
  "| jump | 3 | 4 | |",
].join("\n");

const row = (figure: string, median: number, ratio: number): Row => {
  return { figure, unit: "", subject: "snail", median, least: median, most: median, ratios: { horse: ratio } };
};

test("V10: a comment names the figures of its cell", () => {
  expect(claimsIn("a.md", page)).toEqual([
    { page: "a.md", measure: "walk", figure: "time", subject: "snail", of: "horse", value: 1.5 },
    { page: "a.md", measure: "walk", figure: "bytes", subject: "snail", value: 1500 },
    { page: "a.md", measure: "walk", figure: "time", subject: "snail", value: 0.07 },
  ]);
  expect(() => claimsIn("a.md", "| a | 1 | 2, 3 <!-- bench: walk / time / snail --> | |")).toThrow(
    /1 figures.*2 numbers/,
  );
});

test("V10: a claim is wrong if the run's figure is clearly worse, and unchecked without the figure", () => {
  const claims = claimsIn("a.md", page);
  expect(wrongClaims("walk", [row("time", 0.1, 2), row("bytes", 1600, 2)], claims)).toEqual([]);
  expect(wrongClaims("walk", [row("time", 1, 2.5)], claims)).toEqual([
    "a.md claims 1.5 for time, snail ÷ horse, but this run has 2.5.",
    "a.md claims 0.07 for time, snail, but this run has 1.",
  ]);
  expect(wrongClaims("jump", [row("time", 9, 9)], claims)).toEqual([]);
});

test("V10: each claim of our pages names a figure that bench measures", () => {
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
