import { describe, expect, it } from "vitest";
import { costInWords, duration, short } from "./amounts.ts";

describe("amounts for people", () => {
  it("W42: a cost is never shown as nothing when it is something, and an unknown one is unknown", () => {
    expect([undefined, 0, 0.00002, 0.0001, 0.00123, 0.0123, 12.3456].map(costInWords)).toEqual([
      "unknown",
      "$0",
      "<$0.0001",
      "$0.0001",
      "$0.0012",
      "$0.01",
      "$12.35",
    ]);
  });

  it("W28: a time is in seconds at first, then in minutes and hours", () => {
    expect([0, 9.6, 119.4, 119.5, 3_725, 7_199.6, 90_000].map(duration)).toEqual([
      "0 s",
      "10 s",
      "119 s",
      "2 min 0 s",
      "62 min 5 s",
      "2 h 0 min",
      "25 h 0 min",
    ]);
  });

  it("a number of tokens is short", () => {
    expect([0, 999, 1_234, 9_980, 45_678, 999_900, 1_048_576].map(short)).toEqual([
      "0",
      "999",
      "1.2k",
      "10k",
      "46k",
      "1M",
      "1M",
    ]);
  });
});
