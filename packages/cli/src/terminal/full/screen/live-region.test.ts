import { describe, expect, test } from "vitest";
import { TestScreen } from "../testing/screen.ts";
import { breaksLinesAnew, keepsCursorAtLine, LiveRegion, type RegionFrame, regionTerminal } from "./live-region.ts";

/** A region on a terminal with a shell's output. */
async function opened(columns = 80, rows = 24) {
  const screen = new TestScreen(columns, rows);
  const region = new LiveRegion();
  await screen.write("$ ls\r\none  two\r\n");
  const draw = (lines: readonly string[], more: Partial<RegionFrame> = {}) =>
    screen.write(region.draw({ finished: [], lines, ...more }, screen.size));
  return { screen, region, draw };
}

describe("the live region", () => {
  test("is drawn below the earlier text, with the cursor at its place", async () => {
    const { screen, draw } = await opened();
    await draw(["first", "second"], { cursor: { row: 0, column: 3 } });
    expect(screen.lines).toEqual(["$ ls", "one  two", "first", "second"]);
    expect(screen.cursor).toEqual({ row: 2, column: 3 });
  });

  test("T21: writes only changed lines, in one synchronised frame, and without a change nothing", async () => {
    const { screen, draw } = await opened();
    await draw(["first", "second", "third"]);
    screen.raw = "";
    await draw(["first", "changed", "third"]);
    expect(screen.lines.slice(2)).toEqual(["first", "changed", "third"]);
    expect(screen.raw.startsWith("\x1b[?2026h") && screen.raw.endsWith("\x1b[?2026l")).toBe(true);
    expect(screen.raw).toContain("changed");
    expect(screen.raw).not.toMatch(/first|third/);
    screen.raw = "";
    await draw(["first", "changed", "third"]);
    expect(screen.raw).toBe("");
  });

  test("grows and shrinks", async () => {
    const { screen, draw } = await opened();
    await draw(["one"]);
    await draw(["one", "two", "three"]);
    expect(screen.lines.slice(2)).toEqual(["one", "two", "three"]);
    await draw(["three"]);
    expect(screen.lines.slice(2)).toEqual(["three"]);
    await draw([]);
    expect(screen.lines.slice(2)).toEqual([]);
  });

  test("T20: finished lines go above it and stay, also wider ones than the terminal", async () => {
    const { screen, draw } = await opened(20, 6);
    const wide = "x".repeat(50);
    await draw(["prompt"]);
    for (let count = 1; count <= 10; count++) await draw([`prompt ${count}`], { finished: [`line ${count}`, wide] });
    const finished = Array.from({ length: 10 }, (_, index) => [`line ${index + 1}`, wide]).flat();
    expect(screen.lines).toEqual(["$ ls", "one  two", ...finished, "prompt 10"]);
  });

  test("T21: shows at most the last rows less one", async () => {
    const { screen, draw } = await opened(20, 5);
    await draw(["a", "b", "c", "d", "e", "f"], { cursor: { row: 5, column: 1 } });
    expect(screen.lines).toEqual(["$ ls", "one  two", "c", "d", "e", "f"]);
    expect(screen.cursor).toEqual({ row: 4, column: 1 });
  });

  test("keeps its place when a line is wider than it seems", async () => {
    const { screen, draw } = await opened(20, 10);
    await draw(["y".repeat(35), "below"]);
    await draw(["short", "below"]);
    expect(screen.lines).toEqual(["$ ls", "one  two", "short", "below"]);
  });

  test.each([
    ["wide characters", "漢字漢字漢字漢字漢字"],
    ["emoji", "😀🚀".repeat(5)],
    ["combining marks", "e\u0301".repeat(20)],
  ])("T20: measures %s right when the window becomes narrower", async (_name, text) => {
    const { screen, draw } = await opened(20, 10);
    await draw([text, "prompt"], { cursor: { row: 1, column: 0 } });
    screen.resize(12, 10);
    await draw(["now", "prompt"]);
    expect(screen.lines).toEqual(["$ ls", "one  two", "now", "prompt"]);
  });

  test("can be taken away, and drawn again", async () => {
    const { screen, region, draw } = await opened();
    await draw(["one", "two"], { cursor: { row: 1, column: 2 } });
    await screen.write(region.erase(screen.size));
    expect(screen.lines).toEqual(["$ ls", "one  two"]);
    expect(screen.cursor).toEqual({ row: 2, column: 0 });
    await draw(["three"]);
    expect(screen.lines).toEqual(["$ ls", "one  two", "three"]);
  });
});

const SIZES = [
  [40, 10],
  [100, 30],
  [23, 12],
  [120, 10],
  [80, 24],
] as const;

test("T20: after 1,000 updates and five resizes all finished lines and the shell's output are there, once and in order", async () => {
  const { screen, draw } = await opened(80, 24);
  const finished: string[] = [];
  for (let update = 1; update <= 1_000; update++) {
    const size = update % 180 === 0 ? SIZES[update / 180 - 1] : undefined;
    if (size) screen.resize(size[0], size[1]);
    const { columns } = screen.size;
    const region = Array.from({ length: 1 + (update % 7) }, (_, row) => `~${row}`.repeat(columns / 2));
    const done = update % 3 === 0 ? [`finished ${update}`, "─".repeat((update * 7) % 130)] : [];
    finished.push(...done);
    await draw([...region, `~update ${update}`], { finished: done, cursor: { row: region.length, column: 4 } });
  }
  // If rewrapping makes a region taller than the screen, its top stays in the scrollback.
  const kept = screen.lines.filter((line) => !line.startsWith("~"));
  expect(kept).toEqual(["$ ls", "one  two", ...finished]);
  expect(screen.lines.filter((line) => /^~\d/.test(line)).length).toBeLessThan(1 + (1_000 % 7) + 2 * SIZES.length);
  expect(screen.lines.at(-1)).toBe("~update 1000");
  expect(screen.wasCleared).toBe(false);
});

test("T20: emoji that are wider for us than for the terminal take no finished line with them", async () => {
  const { screen, draw } = await opened(20, 10);
  for (const text of ["👩‍👩‍👧‍👦👍🏽🏳️‍🌈".repeat(2), "⌚️⏰☀️".repeat(4)]) {
    await draw([text, "prompt"], { cursor: { row: 1, column: 0 } });
    screen.resize(screen.size.columns === 20 ? 12 : 7, 10);
    await draw(["now", "prompt"]);
  }
  expect(screen.lines.slice(0, 2)).toEqual(["$ ls", "one  two"]);
});

test("T61: a finished line that became two rows just before the frame stays whole", async () => {
  const { screen, draw } = await opened(40, 12);
  const wide = "the first words of a line and the last";
  await draw([wide, "prompt"], { waitsAtTop: true });
  screen.resizeUntold(20, 12);
  await draw(["next", "prompt"], { finished: [wide], waitsAtTop: true });
  screen.tell();
  await draw(["next", "prompt"], { waitsAtTop: true });
  expect(screen.lines).toEqual(["$ ls", "one  two", wide, "next", "prompt"]);
});

test("V11: finished lines that are on the screen are not written again; where sizes are reported late they are", () => {
  const size = { columns: 40, rows: 12 };
  const next = { finished: ["the first line"], lines: ["the second", "prompt"], waitsAtTop: true };
  for (const reportsSizeLate of [false, true]) {
    const region = new LiveRegion({ reportsSizeLate });
    region.draw({ finished: [], lines: ["the first line", "prompt"], waitsAtTop: true }, size);
    expect(region.draw(next, size).includes("the first line")).toBe(reportsSizeLate);
  }
});

test("V11: frames that only overwrite characters are written without modes", () => {
  const region = new LiveRegion();
  const size = { columns: 40, rows: 12 };
  region.draw({ finished: [], lines: ["the first", "prompt"], waitsAtTop: true }, size);
  const bytes = region.draw({ finished: [], lines: ["the first line", "prompt"], waitsAtTop: true }, size);
  expect(bytes).toBe("\x1b[9C line\r");
});

test("V11: multiplexers, other machines and some fonts are known", () => {
  expect(regionTerminal({})).toEqual({ reflows: true, reportsSizeLate: false, isNarrow: true });
  for (const env of [{ TMUX: "/tmp/tmux,1,0" }, { SSH_TTY: "/dev/pts/0" }, { TERM_PROGRAM: "vscode" }])
    expect(regionTerminal(env).reportsSizeLate).toBe(true);
  expect(regionTerminal({ LANG: "ja_JP.UTF-8" }).isNarrow).toBe(false);
  expect(regionTerminal({ LANG: "ja_JP.UTF-8", LC_ALL: "C.UTF-8" }).isNarrow).toBe(true);
});

test("terminals that leave long lines as they are when they become narrower are known", () => {
  expect(breaksLinesAnew({ TERM: "xterm-256color" })).toBe(true);
  expect(breaksLinesAnew({ TERM: "xterm-256color", XTERM_VERSION: "XTerm(379)" })).toBe(false);
  expect(breaksLinesAnew({ TERM: "linux" })).toBe(false);
  expect(breaksLinesAnew({ TERM: "screen", STY: "1.pts" })).toBe(false);
  expect(breaksLinesAnew({ TERM: "screen-256color", TMUX: "/tmp/tmux,1,0" })).toBe(true);
});

test("T61: terminals that do not keep the cursor at its line are known", () => {
  expect(keepsCursorAtLine({ TERM_PROGRAM: "ghostty" })).toBe(true);
  expect(keepsCursorAtLine({ TERM_PROGRAM: "vscode" })).toBe(false);
  expect(keepsCursorAtLine({ TERM_PROGRAM: "vscode", TMUX: "/tmp/tmux,1,0" })).toBe(true);
});
