import { expect, test } from "vitest";
import type { Measure } from "./measure.ts";
import { sentence, summarise, table, verdicts } from "./results.ts";

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

test("the best of the rivals is what all are compared with, figure by figure; one that has none of a figure is left out", () => {
  const race: Measure = {
    ...measure,
    subjects: ["horse", "snail", "hare"],
    bounds: [],
    rivals: ["horse", "hare"],
    figures: [
      { name: "time", unit: "min" },
      { name: "food", unit: "kg" },
    ],
  };
  const samples = new Map([
    ["horse", [{ time: 20, food: 4 }]],
    ["snail", [{ time: 60, food: 1 }]],
    ["hare", [{ time: 10 }]],
  ]);
  const ratios = summarise(race, samples).map(({ figure, subject, ratios }) => [figure, subject, ratios["best peer"]]);
  expect(ratios).toEqual([
    ["time", "horse", 2],
    ["time", "snail", 6],
    ["time", "hare", 1],
    ["food", "horse", 1],
    ["food", "snail", 0.25],
  ]);
});

test("a target is met or missed, by the ratio or by the figure itself, and nothing is said of what was not measured", () => {
  const aimed: Measure = {
    ...measure,
    targets: [
      { figure: "time", subject: "snail", of: "horse", most: 2 },
      { figure: "time", subject: "snail", most: 60 },
      { figure: "time", subject: "hare", most: 1 },
    ],
  };
  const samples = new Map([
    ["horse", [{ time: 20 }]],
    ["snail", [{ time: 60 }]],
  ]);
  expect(verdicts(aimed, summarise(aimed, samples)).map(sentence)).toEqual([
    "missed  time, snail: 3 times horse; wanted: at most 2",
    "met     time, snail: 60; wanted: at most 60",
  ]);
});
