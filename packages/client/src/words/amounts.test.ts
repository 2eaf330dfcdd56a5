import { formatCost } from "@banyan/core/shown";
import { expect, test } from "vitest";
import { compactedLine, formatDuration, shortCount } from "./amounts.ts";

test("W42, W51: a cost is never shown as nothing when it is something, and an unknown one is unknown", () => {
  expect([undefined, 0, 2e-9, 0.00002, 0.0001, 0.00123, 0.0123, 12.3456].map((cost) => formatCost(cost))).toEqual([
    "unknown",
    "$0",
    "<$0.0001",
    "<$0.0001",
    "$0.00010",
    "$0.0012",
    "$0.01",
    "$12.35",
  ]);
});

test("W28: a time is in seconds at first, then in minutes and hours", () => {
  expect([0, 9_640, 59_940, 59_950, 119_500, 3_725_000, 90_000_000].map(formatDuration)).toEqual([
    "0.0 s",
    "9.6 s",
    "59.9 s",
    "1 min 0 s",
    "2 min 0 s",
    "1 h 2 min",
    "25 h 0 min",
  ]);
});

test("F99: a summary says what it made of the context, in shares where the window is known", () => {
  const sizes = { messages: 84, before: 142_000, after: 58_400 };
  expect(compactedLine({ ...sizes, size: 200_000 })).toBe("Compacted 84 messages: from 71 % to 29 % of the context");
  expect(compactedLine(sizes)).toBe("Compacted 84 messages: from about 142,000 to 58,400 tokens");
  expect(compactedLine({ messages: 1, before: 10, after: 9, size: 100 })).toBe(
    "Compacted 1 message: from 10 % to 9 % of the context",
  );
});

test("a number of tokens is short", () => {
  expect([0, 999, 1_234, 9_980, 45_678, 999_900, 1_048_576].map(shortCount)).toEqual([
    "0",
    "999",
    "1.2k",
    "10k",
    "46k",
    "1.0M",
    "1.0M",
  ]);
});
