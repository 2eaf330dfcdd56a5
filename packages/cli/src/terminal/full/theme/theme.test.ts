import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Colors } from "./colors.ts";
import { palettes } from "./palette.ts";
import { colorDepth, schemeFrom, schemeOfReply } from "./terminal-colors.ts";
import { createTheme } from "./theme.ts";

describe("T38: the number of colours", () => {
  const xterm = { TERM: "xterm-256color" };

  test("the terminal's variables decide", () => {
    expect(colorDepth("auto", { TERM: "xterm" })).toBe(4);
    expect(colorDepth("auto", xterm)).toBe(8);
    expect(colorDepth("auto", { ...xterm, COLORTERM: "truecolor" })).toBe(24);
    expect(colorDepth("auto", { TERM: "dumb" })).toBe(1);
    // In GNU screen, COLORTERM describes the outer terminal.
    const screen = { TERM: "screen", COLORTERM: "truecolor", STY: "1.pts-0.host" };
    expect(colorDepth("auto", screen)).toBe(4);
    expect(colorDepth("auto", { ...screen, TERM: "screen-256color" })).toBe(8);
    expect(colorDepth("auto", { ...screen, TMUX: "/tmp/tmux" })).toBe(4);
    expect(colorDepth("auto", { ...screen, FORCE_COLOR: "3" })).toBe(24);
  });

  test("NO_COLOR turns colours off, unless it is empty", () => {
    expect(colorDepth("auto", { ...xterm, NO_COLOR: "1" })).toBe(1);
    expect(colorDepth("auto", { ...xterm, NO_COLOR: "" })).toBe(8);
  });

  test("FORCE_COLOR counts more than NO_COLOR", () => {
    expect(colorDepth("auto", { TERM: "dumb", FORCE_COLOR: "3", NO_COLOR: "1" })).toBe(24);
    expect(colorDepth("auto", { ...xterm, FORCE_COLOR: "0" })).toBe(1);
  });

  test("--color counts more than the environment", () => {
    expect(colorDepth("always", { TERM: "dumb", NO_COLOR: "1" })).toBe(4);
    expect(colorDepth("never", { ...xterm, FORCE_COLOR: "3" })).toBe(1);
  });
});

describe("T23: a colour", () => {
  test.each([
    [1, "text"],
    [4, "\x1b[32mtext\x1b[39m"],
    [8, "\x1b[38;5;114mtext\x1b[39m"],
    [24, "\x1b[38;2;126;198;153mtext\x1b[39m"],
  ] as const)("a colour of %i bits", (depth, painted) => {
    expect(createTheme(depth, "dark").good("text")).toBe(painted);
  });

  test("fits the background", () => {
    expect(createTheme(24, "light").good("text")).toBe("\x1b[38;2;26;127;55mtext\x1b[39m");
  });

  test("a colour continues after an inner colour ends", () => {
    const { bad, good } = createTheme(4, "dark");
    expect(bad(`a ${good("b")} c`)).toBe("\x1b[31ma \x1b[32mb\x1b[39m\x1b[31m c\x1b[39m");
  });
});

describe("the background", () => {
  test.each([
    ["15;0", "dark"],
    ["0;15", "light"],
    ["0;default;7", "light"],
    ["12;8", "dark"],
    ["", undefined],
    ["15;default", undefined],
  ])("by COLORFGBG %j is %s", (COLORFGBG, scheme) => {
    expect(schemeFrom({ COLORFGBG })).toBe(scheme);
  });

  test("is what the terminal answers", () => {
    expect(schemeOfReply("\x1b]11;rgb:ffff/ffff/ffff\x1b\\")).toBe("light");
    expect(schemeOfReply("\x1b]11;rgb:1e1e/1e1e/2e2e\x07")).toBe("dark");
    expect(schemeOfReply("a")).toBeUndefined();
  });
});

/** Contrast of two colours, from 1 to 21 (WCAG 2). */
function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [one, other].map(luminance).sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

describe("T56: themes", () => {
  test.each([
    ["usual", 4.5],
    ["high-contrast", 7],
    ["color-blind", 4.5],
  ] as const)("%s can be read on dark and on light: %d to 1 at the least", (name, least) => {
    const weak = Object.entries(palettes[name]).filter(
      ([, { dark, light }]) => Math.min(contrast(dark, "#1e1e1e"), contrast(light, "#ffffff")) < least,
    );
    expect(weak.map(([color]) => color)).toEqual([]);
  });

  test("a theme for one background stays; other themes follow the terminal's background", () => {
    const colors = new Colors(24, { COLORFGBG: "15;0" });
    expect(colors.use("light")).toEqual([]);
    colors.heard("dark");
    expect(colors.theme.good("x")).toBe("\x1b[38;2;26;127;55mx\x1b[39m");
    colors.use("high-contrast");
    expect(colors.theme.good("x")).toBe("\x1b[38;2;93;255;143mx\x1b[39m");
    colors.heard("light");
    expect(colors.theme.good("x")).toBe("\x1b[38;2;0;90;30mx\x1b[39m");
    colors.use("auto");
    expect(colors.theme.good("x")).toBe("\x1b[38;2;26;127;55mx\x1b[39m");
  });

  test("in 16 colours: high contrast has nothing faint, color-blind neither red nor green", () => {
    const colors = new Colors(4, {});
    colors.use("high-contrast");
    expect(colors.theme.dim("x")).toBe("x");
    colors.use("color-blind");
    const { good, bad } = colors.theme;
    expect(`${good("x")}${bad("x")}`).toBe("\x1b[36mx\x1b[39m\x1b[33mx\x1b[39m");
  });

  test("a theme file changes the named colours of its base; faults are reported, and the valid colours hold", () => {
    const file = join(tmpdir(), `theme-${process.pid}.json`);
    const colors = new Colors(24, {});
    writeFileSync(file, JSON.stringify({ base: "high-contrast", colors: { good: "#010203" } }));
    expect(colors.use(file)).toEqual([]);
    expect(colors.theme.good("x") + colors.theme.dim("x")).toBe(
      "\x1b[38;2;1;2;3mx\x1b[39m\x1b[38;2;216;216;216mx\x1b[39m",
    );
    writeFileSync(file, JSON.stringify({ base: "nice", colors: { god: "#010203", bad: "red\x1b[2J" }, more: 1 }));
    expect(colors.use(file)).toEqual([
      `theme: ${file}: there is no 'more'; expected base and colors.`,
      `theme: ${file}: base: expected one of auto, dark, light, high-contrast, color-blind.`,
      `theme: ${file}: there is no colour 'god'; did you mean 'good'?`,
      `theme: ${file}: bad: expected a colour as in "#7ec699".`,
    ]);
    writeFileSync(file, "[");
    expect(colors.use(file)).toEqual([expect.stringContaining("it cannot be read: ")]);
    expect(colors.use(`${file}.none`)).toEqual([expect.stringContaining("it cannot be read: ENOENT")]);
    expect(colors.use(tmpdir())).toEqual([expect.stringContaining("expected a file of at most")]);
    expect(colors.theme.good("x")).toBe("\x1b[38;2;126;198;153mx\x1b[39m");
  });
});
