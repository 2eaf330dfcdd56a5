import { describe, expect, it } from "vitest";
import { costInWords, short } from "./amounts.ts";

describe("amounts for people", () => {
  it("W42: a cost is never shown as nothing when it is something, and an unknown one is a dash", () => {
    expect([undefined, 0, 0.00002, 0.0001, 0.00123, 0.0123, 12.3456].map(costInWords)).toEqual([
      "—",
      "$0",
      "<$0.0001",
      "$0.0001",
      "$0.0012",
      "$0.01",
      "$12.35",
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
