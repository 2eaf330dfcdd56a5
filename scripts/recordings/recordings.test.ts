import { beforeEach, expect, test, vi } from "vitest";
import { recordings, replays } from "./replay.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout", "performance"], now: 1_800_000_000_000 });
  return () => void vi.useRealTimers();
});

/**
 * The frames were recorded before the clients shared one rendering of the feed. After a deliberate change of words, run
 * `npx vitest run scripts/recordings -u` and read the difference.
 */
test.each(Object.entries(replays((milliseconds) => void vi.advanceTimersByTime(milliseconds))))(
  "F37: %s writes the same bytes for the same feeds",
  async (name, replay) => {
    const frames: string[] = [];
    for (const recording of recordings) frames.push(`# ${recording.name}`, ...(await replay(recording)), "");
    const text = frames.join("\n").replaceAll(/\b[0-9a-hjkmnp-tv-z]{26}\b/g, "<id>");
    await expect(text).toMatchFileSnapshot(`./frames/${name}.txt`);
  },
);
