import { expect, test } from "vitest";
import type { Measure } from "./measure.ts";
import { summarise, table } from "./results.ts";

const measure: Measure = {
  name: "walk",
  what: "the time for a mile",
  subjects: ["horse", "snail"],
  bounds: ["horse"],
  figures: [{ name: "time", unit: "min" }],
  rounds: 3,
  run: async () => ({ time: 1 }),
};

test("a row says the median of the rounds, their spread, and the median as a multiple of the bound's", () => {
  const samples = new Map([
    ["horse", [{ time: 30 }, { time: 10 }, { time: 20 }]],
    ["snail", [{ time: 40 }, { time: 80 }]],
  ]);
  expect(summarise(measure, samples)).toEqual([
    { figure: "time", unit: "min", subject: "horse", median: 20, least: 10, most: 30, ratios: { horse: 1 } },
    { figure: "time", unit: "min", subject: "snail", median: 60, least: 40, most: 80, ratios: { horse: 3 } },
  ]);
});

test("a bound that was not measured is left out", () => {
  const rows = summarise(measure, new Map([["snail", [{ time: 60 }]]]));
  expect(rows[0]?.ratios).toEqual({});
  expect(table(rows)).not.toContain("÷");
});

test("the table has a column for each bound, and names a figure once", () => {
  const rows = summarise(
    measure,
    new Map([
      ["horse", [{ time: 20 }]],
      ["snail", [{ time: 12345 }]],
    ]),
  );
  expect(table(rows).split("\n")).toEqual([
    "  figure     subject  median            spread  ÷ horse",
    "  time, min  horse        20          20 to 20     1.00",
    "             snail    12,345  12,345 to 12,345   617.25",
  ]);
});
