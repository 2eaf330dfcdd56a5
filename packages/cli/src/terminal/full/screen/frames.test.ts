import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FRAME_TIME, Frames } from "./frames.ts";

let drawn: number[];
let frames: Frames;

beforeEach(() => {
  vi.useFakeTimers();
  drawn = [];
  frames = new Frames(() => drawn.push(performance.now()));
});
afterEach(() => {
  vi.useRealTimers();
});

test("T21: there are at most 20 frames a second, and the last change is drawn", () => {
  const begin = performance.now();
  let lastChange = 0;
  while (performance.now() < begin + 1_000) {
    frames.request();
    lastChange = performance.now();
    vi.advanceTimersByTime(3);
  }
  vi.advanceTimersByTime(FRAME_TIME);
  expect(drawn.length).toBeGreaterThan(15);
  expect(drawn.length).toBeLessThanOrEqual(21);
  expect(drawn.at(-1)).toBeGreaterThan(lastChange);
});

test("after a pause a change is drawn at once, and changes of one moment together", () => {
  frames.request();
  frames.request();
  vi.advanceTimersByTime(1);
  expect(drawn).toHaveLength(1);
});

test("nothing is drawn while the terminal is behind; what changed then is drawn once it has caught up", () => {
  frames.request();
  frames.hold();
  frames.request();
  vi.advanceTimersByTime(1_000);
  expect(drawn).toHaveLength(0);
  frames.release();
  vi.advanceTimersByTime(FRAME_TIME);
  expect(drawn).toHaveLength(1);
  frames.hold();
  frames.release();
  vi.advanceTimersByTime(1_000);
  expect(drawn).toHaveLength(1);
});
