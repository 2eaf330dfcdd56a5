import { describe, expect, test } from "vitest";
import { colorDepth, schemeFrom, schemeOfReply } from "./terminal-colors.ts";
import { createTheme } from "./theme.ts";

describe("T38: how many colours there are", () => {
  const xterm = { TERM: "xterm-256color" };

  test("is what the terminal says", () => {
    expect(colorDepth("auto", { TERM: "xterm" })).toBe(4);
    expect(colorDepth("auto", xterm)).toBe(8);
    expect(colorDepth("auto", { ...xterm, COLORTERM: "truecolor" })).toBe(24);
    expect(colorDepth("auto", { TERM: "dumb" })).toBe(1);
  });

  test("is none with NO_COLOR, unless it is empty", () => {
    expect(colorDepth("auto", { ...xterm, NO_COLOR: "1" })).toBe(1);
    expect(colorDepth("auto", { ...xterm, NO_COLOR: "" })).toBe(8);
  });

  test("is what FORCE_COLOR says, whatever NO_COLOR says", () => {
    expect(colorDepth("auto", { TERM: "dumb", FORCE_COLOR: "3", NO_COLOR: "1" })).toBe(24);
    expect(colorDepth("auto", { ...xterm, FORCE_COLOR: "0" })).toBe(1);
  });

  test("is what --color says, whatever the environment says", () => {
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
  ] as const)("of %i bits", (depth, painted) => {
    expect(createTheme(depth, "dark").good("text")).toBe(painted);
  });

  test("fits the background", () => {
    expect(createTheme(24, "light").good("text")).toBe("\x1b[38;2;26;127;55mtext\x1b[39m");
  });

  test("goes on behind what is painted inside it", () => {
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
