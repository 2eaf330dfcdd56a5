import { describe, expect, test } from "vitest";
import { createTheme } from "../theme/theme.ts";
import { cutToWidth, leastWidthOf, padToWidth, paintedAt, textWidth, withoutColors, wrapCells } from "./cells.ts";

const { bold, dim, good } = createTheme(4, "dark");

describe("T20: the columns that text takes", () => {
  test.each([
    ["plain", 5],
    ["漢字", 4],
    ["e\u0301", 1],
    ["👍🏽", 2],
    ["👩‍👩‍👧‍👦", 2],
    ["\x1b[1mbold\x1b[22m", 4],
    ["\x1b]8;;https://x\x1b\\link\x1b]8;;\x1b\\", 4],
    ["", 0],
  ])("the text %j takes %i", (text, columns) => {
    expect(textWidth(text)).toBe(columns);
  });

  test("an emoji takes at least one column", () => {
    expect(leastWidthOf("a👩‍👩‍👧‍👦⏰漢")).toBe(1 + 1 + 1 + 2);
  });
});

describe("text that is cut", () => {
  test("ends with …, in no more columns than there are", () => {
    expect(cutToWidth("hello", 5)).toBe("hello");
    expect(cutToWidth("hello", 4)).toBe("hel…");
    expect(cutToWidth("漢字漢字", 6)).toBe("漢字…");
    expect(cutToWidth("hello", 1)).toBe("…");
    expect(cutToWidth("hello", 0)).toBe("");
  });

  test("a cut text ends its own colours only; without colours nothing is added", () => {
    expect(cutToWidth(`${good("one")} two ${bold("three")}`, 10)).toBe(`${good("one")} two \x1b[1mt…\x1b[22m`);
    const line = dim(`a ${cutToWidth(good("long text"), 5)} b`);
    expect(line).toBe(`\x1b[2ma \x1b[32mlong…\x1b[39m b\x1b[22m`);
  });
});

test("text is broken between words, and a colour goes on behind the break", () => {
  const lines = wrapCells(good("one two three"), 8);
  expect(lines.map(withoutColors)).toEqual(["one two", "three"]);
  expect(lines[1]).toContain("\x1b[32mthree");
  expect(wrapCells("x".repeat(20), 8).map(textWidth)).toEqual([8, 8, 4]);
});

test("T61: a cursor is painted on a character, or on a blank after the text", () => {
  const { selected } = createTheme(4, "dark");
  expect(paintedAt("one", 1, selected)).toBe("o\x1b[7mn\x1b[27me");
  expect(paintedAt("a漢b", 1, selected)).toBe("a\x1b[7m漢\x1b[27mb");
  expect(paintedAt("one", 5, selected)).toBe("one  \x1b[7m \x1b[27m");
});

test("text is filled up with blanks", () => {
  expect(padToWidth("漢", 4)).toBe("漢  ");
  expect(padToWidth("long", 2)).toBe("long");
});
