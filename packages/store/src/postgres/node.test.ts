import { expect, test } from "vitest";
import { SharedClock } from "./node.ts";

const HOUR = 3_600_000;

/** Returns a clock's correction after these results: how far the database is ahead, and how long each result took. */
function correctionAfter(...answers: readonly (readonly [ahead: number, took: number])[]): number {
  const clock = new SharedClock();
  const asked = Date.now();
  for (const [ahead, took] of answers) clock.compare(asked + took / 2 + ahead, asked, asked + took);
  return Math.round((clock.now() - Date.now()) / 100) * 100;
}

test("a machine whose clock is wrong stamps by the clock of the database, and by its own when that is right", () => {
  expect(correctionAfter()).toBe(0);
  expect(correctionAfter([HOUR, 4])).toBe(HOUR);
  expect(correctionAfter([-HOUR, 4])).toBe(-HOUR);
  expect(correctionAfter([300, 4])).toBe(0);
  // Small differences do not move the clock back and forth.
  expect(correctionAfter([HOUR, 4], [HOUR + 400, 4], [HOUR - 400, 4])).toBe(HOUR);
  // The machine's clock was corrected.
  expect(correctionAfter([HOUR, 4], [20, 4])).toBe(0);
});

test("an answer that took long, as of a process that slept, moves no clock that may be right", () => {
  expect(correctionAfter([15_000, 30_000])).toBe(0);
  expect(correctionAfter([-15_000, 30_000])).toBe(0);
  expect(correctionAfter([HOUR, 4], [HOUR + 15_000, 30_000])).toBe(HOUR);
  expect(correctionAfter([HOUR, 30_000])).toBe(HOUR);
});
