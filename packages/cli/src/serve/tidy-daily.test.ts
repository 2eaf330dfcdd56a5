import { afterEach, expect, test, vi } from "vitest";
import { tidyDaily } from "./serve.ts";

const DAY = 86_400_000;

afterEach(() => void vi.useRealTimers());

test("B64: old data is removed and reported each day, not at the start, and never after the end", async () => {
  vi.useFakeTimers();
  const told: string[] = [];
  let days = 0;
  const host = { tidy: async () => [`Day ${++days}.`] };
  {
    using _ = tidyDaily(host, (sentence) => told.push(sentence));
    await vi.advanceTimersByTimeAsync(DAY - 1);
    expect(told).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(told).toEqual(["Day 1."]);
    await vi.advanceTimersByTimeAsync(DAY);
    expect(told).toEqual(["Day 1.", "Day 2."]);
  }
  await vi.advanceTimersByTimeAsync(3 * DAY);
  expect(days).toBe(2);
});

test("B64: a failed clean-up is reported, and tried again the next day", async () => {
  vi.useFakeTimers();
  const told: string[] = [];
  const tidy = vi.fn(async () => ["Done."]).mockRejectedValueOnce(new Error("the disk is gone"));
  using _ = tidyDaily({ tidy }, (sentence) => told.push(sentence));
  await vi.advanceTimersByTimeAsync(2 * DAY);
  expect(told).toEqual([expect.stringContaining("the disk is gone"), "Done."]);
});

test("B64: the process does not wait for it", () => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
  const before = timers();
  using _ = tidyDaily({ tidy: async () => [] }, () => {});
  expect(timers()).toBe(before);
});
