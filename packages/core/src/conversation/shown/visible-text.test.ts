import { describe, expect, test } from "vitest";
import { visibleLine, visibleProse, visibleText } from "./visible-text.ts";

/** Visible characters: letters, marks, numbers, punctuation and symbols, and unassigned code points. */
const DRAWN = /^[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cn}]$/u;
const IGNORED = /^\p{Default_Ignorable_Code_Point}$/u;

/** Visible by category, but empty; see the charts of Unicode. */
const EMPTY = [
  0x115f, 0x1160, 0x3164, 0xffa0, 0x2800, 0x17b4, 0x17b5, 0x34f, 0x1d159, 0x13441, 0x13442, 0x16fe4, 0xfffc,
];

describe("S23: text for a user's decision", () => {
  test("all 1,114,112 code points are visible, and none is lost", () => {
    let tried = 0;
    let written = 0;
    for (let code = 0; code <= 0x10ffff; code++) {
      const character = String.fromCodePoint(code);
      const shown = visibleText(`a${character}b`);
      tried++;
      if (shown === `a${character}b`) {
        const isKept = character === " " || character === "\n" || character === "\t";
        if (!isKept && (!DRAWN.test(character) || IGNORED.test(character) || EMPTY.includes(code)))
          expect.unreachable(`U+${code.toString(16)} is shown as it is`);
      } else {
        written++;
        if (shown !== `a\\u{${code.toString(16)}}b`) expect.unreachable(`U+${code.toString(16)} is shown as ${shown}`);
      }
    }
    expect(tried).toBe(1_114_112);
    // Most are private use and surrogates, the rest reserved default ignorable ones.
    expect(written).toBeGreaterThan(140_000);
  });

  test.each([
    ["a turned direction", "rm \u202e fdp.txt", "rm \\u{202e} fdp.txt"],
    ["an isolate", "a\u2066b\u2069", "a\\u{2066}b\\u{2069}"],
    ["a Hangul filler", "ls\u3164x", "ls\\u{3164}x"],
    ["variation selectors", "a\ufe0f\u{e0101}", "a\\u{fe0f}\\u{e0101}"],
    ["tags", "a\u{e0041}\u{e007f}", "a\\u{e0041}\\u{e007f}"],
    ["controls", "a\r\x1b[2K\x00", "a\\u{d}\\u{1b}[2K\\u{0}"],
    ["blanks that are no space", "rm\u00a0-rf\u2003/", "rm\\u{a0}-rf\\u{2003}/"],
    ["half a character", "a\ud800b", "a\\u{d800}b"],
    ["the joints of an emoji", "👩\u200d👧", "👩\\u{200d}👧"],
  ])("shows %s", (_name, text, shown) => {
    expect(visibleText(text)).toBe(shown);
  });

  test("keeps every other character, line ends and tabs; on one line these too are written out", () => {
    const text = "a\tb\n– “x” 日本 é ﷺ 👧 ه";
    expect(visibleText(text)).toBe(text);
    expect(visibleLine("a\n\tb")).toBe("a\\n\\tb");
  });
});

describe("text that a user only reads", () => {
  test("keeps its emoji and the blanks of all languages, and hides no control", () => {
    const text = "👩‍👧 ❤️ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 1 000 全角　空白";
    expect(visibleProse(text)).toBe(text);
    expect(visibleProse("a\u202eb\x1b[2K\u200b\u200d")).toBe("a\\u{202e}b\\u{1b}[2K\\u{200b}\\u{200d}");
  });
});
