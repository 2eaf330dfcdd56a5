import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FRAME_TIME } from "./screen/frames.ts";
import { frameCost } from "./testing/frame-cost.ts";
import { Opened } from "./testing/opened.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const SIZES = [
  [40, 10],
  [100, 30],
  [60, 12],
  [120, 40],
  [80, 24],
] as const;

/** An answer with many paragraphs, lists, tables and code blocks, in which each word is unique. */
function answer(): string[] {
  let word = 0;
  const words = (count: number) => Array.from({ length: count }, () => `w${word++}`).join(" ");
  const blocks = Array.from({ length: 60 }, (_, index) => {
    switch (index % 5) {
      case 0:
        return `## ${words(3)}`;
      case 1:
        return words(90);
      case 2:
        return Array.from({ length: 6 }, () => `- ${words(9)}`).join("\n");
      case 3:
        return `\`\`\`ts\n${Array.from({ length: 12 }, () => `const ${words(1)} = "${words(1)}";`).join("\n")}\n\`\`\``;
      default:
        return `| a | b |\n|---|---|\n${Array.from({ length: 5 }, () => `| ${words(2)} | ${words(2)} |`).join("\n")}`;
    }
  });
  return `${blocks.join("\n\n")}\n`.match(/.{1,12}|\n/gs) ?? [];
}

test("T20, T21, T22: an answer of 1,000 updates, five resizes, a window of 40 by 10: nothing is lost, little is written", async () => {
  using here = new Opened(80, 24);
  const { screen } = here;
  void screen.write("$ earlier output\r\n");
  await vi.advanceTimersByTimeAsync(FRAME_TIME);
  const read = here.terminal.read({ prompt: "Reply to banyan: " });
  here.begins("tell me");
  const pieces = answer();
  expect(pieces.length).toBeGreaterThan(1_000);
  let resizes = 0;
  for (const [update, text] of pieces.entries()) {
    const size = update % 200 === 199 ? SIZES[resizes] : undefined;
    if (size) {
      resizes++;
      screen.resize(size[0], size[1]);
    }
    here.happens({ type: "text.delta", message: "a", part: 0, text });
    await vi.advanceTimersByTimeAsync(FRAME_TIME);
  }
  expect(resizes).toBe(SIZES.length);
  here.happens({ type: "run.ended", run: "r", reason: "answered", leaf: "a" });
  await vi.advanceTimersByTimeAsync(FRAME_TIME);
  here.terminal.close();
  await vi.advanceTimersByTimeAsync(FRAME_TIME);
  expect(await read).toBeUndefined();

  const { lines, raw } = screen;
  expect(lines[0]).toBe("$ earlier output");
  expect(screen.wasCleared).toBe(false);
  // Wrapped lines are joined, so words are whole. Remains of the prompt after a resize contain no such word.
  const expected = pieces.join("").match(/w\d+/g) ?? [];
  const seen: readonly string[] = lines.join("\n").match(/w\d+/g) ?? [];
  const remains = seen.length - expected.length;
  expect(remains).toBeLessThan(60);
  expect(seen.filter((word, index) => seen.indexOf(word) === index)).toEqual(expected);
  const frames = raw.split("\x1b[?2026h").length - 1;
  expect(frames).toBeLessThanOrEqual(pieces.length + 20);
  expect(raw.length / frames).toBeLessThan(2_048);
});

test.each([
  ["an ordinary terminal", {}],
  ["tmux", { TMUX: "/tmp/tmux-1/default,1,0" }],
])(
  "T61: 25 resizes, each told late, over 500 streamed lines: all are there, once and in order, in %s",
  async (_, env) => {
    using here = new Opened(100, 40, env);
    const { screen } = here;
    void here.terminal.read({ prompt: "Reply to banyan: " });
    here.begins("tell me");
    for (let line = 0; line < 500; line++) {
      const [columns, rows] = SIZES[Math.floor(line / 20) % SIZES.length] ?? [30, 10];
      if (line % 20 === 5) screen.resizeUntold(columns, rows);
      if (line % 20 === 11) {
        screen.tell();
        here.resized();
      }
      here.happens({ type: "text.delta", message: "a", part: 0, text: `- w${line} and more words, which go on\n` });
      // The frame at the end of this time has reached the screen.
      await vi.advanceTimersByTimeAsync(FRAME_TIME + 1);
    }
    here.happens({ type: "run.ended", run: "r", reason: "answered", leaf: "a" });
    await vi.advanceTimersByTimeAsync(FRAME_TIME);
    here.terminal.close();
    await vi.advanceTimersByTimeAsync(FRAME_TIME);
    const seen = screen.lines.join("\n").match(/\bw\d+/g);
    expect(seen).toEqual(Array.from({ length: 500 }, (_, line) => `w${line}`));
    expect(screen.lines.join("\n")).not.toContain("Reply to banyan");
  },
);

test("T21: a frame writes less than 2 kB after 20,000 lines of transcript, and no more than at the beginning", () => {
  const [first, last] = [frameCost(0), frameCost(20_000)];
  expect(last.bytes).toBeLessThan(2_048);
  expect(last.bytes).toBeLessThan(first.bytes * 1.1);
  expect(last.written.includes("\x1b[2J") || last.written.includes("\x1b[3J")).toBe(false);
});
