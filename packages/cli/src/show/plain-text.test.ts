import { describe, expect, test } from "vitest";
import { coloredLine, PlainText, plainLine, plainText } from "./plain-text.ts";

describe("S12: plain text", () => {
  test.each([
    ["a colour", "\x1b[1;31mred\x1b[0m", "red"],
    ["a cursor movement", "a\x1b[2J\x1b[10;20Hb", "ab"],
    ["a title, ended by a bell", "a\x1b]0;owned\x07b", "ab"],
    ["a link, ended by ST", "\x1b]8;;http://x\x1b\\here\x1b]8;;\x1b\\", "here"],
    ["a clipboard write", "\x1b]52;c;cm0gLXJm\x07x", "x"],
    ["a device control string", "a\x1bPq#0;2\x1b\\b", "ab"],
    ["a choice of a character set", "a\x1b(0b", "ab"],
    ["the 8-bit forms", "a\x9b31mb\x9d0;owned\x9cc", "abc"],
    ["control characters", "a\x00\x07\x08b\x7fc", "abc"],
    ["a line end as Windows writes it", "a\r\nb", "a\nb"],
    ["a line that is written over", "10%\r20%", "10%\n20%"],
    ["what turns the direction of text around", "a\u202eb\u2066c", "abc"],
    ["a sequence inside a sequence", "a\x1b[3\x1b[31mb", "ab"],
    ["a string that begins anew", "a\x1b]0;x\x1b]0;y\x07b", "ab"],
  ])("is without %s, wherever it is cut", (_name, text, plain) => {
    expect(plainText(text)).toBe(plain);
    for (let cut = 0; cut <= text.length; cut++) {
      const cleaner = new PlainText();
      expect(cleaner.push(text.slice(0, cut)) + cleaner.push(text.slice(cut))).toBe(plain);
    }
    const cleaner = new PlainText();
    expect(Array.from(text, (character) => cleaner.push(character)).join("")).toBe(plain);
  });

  test("has whole characters in each piece, wherever a model cuts them", () => {
    const cleaner = new PlainText();
    const pieces = ["a\ud83d", "\udc69", "b\ud83d", "c"].map((piece) => cleaner.push(piece));
    expect(pieces).toEqual(["a", "\ud83d\udc69", "b", "\ud83dc"]);
  });

  test("keeps tabs, line ends and every other character", () => {
    const text = "a\tb\n– “x” 日本 👩‍👧 é";
    expect(plainText(text)).toBe(text);
  });

  test("takes linear time for what looks like the beginning of sequences", () => {
    expect(plainText("\x1b[".repeat(200_000))).toBe("");
    expect(plainText("\x1b]".repeat(200_000))).toBe("");
  });

  test("on one line has no line ends", () => {
    expect(plainLine(" a\n\n\tb\x1b[31m  c ")).toBe("a b c");
  });
});

test("T55, S12: a line with colours has nothing else that a terminal obeys", () => {
  expect(coloredLine("\x1b[1;38:2::1:2:3mbold\x1b[m \x1b[3Aup\x1b]8;;http://x\x1b\\link\x07\u202e\x9b5m\r\x1b[3")).toBe(
    "\x1b[1;38:2::1:2:3mbold\x1b[m uplink",
  );
});
