import { expect, test } from "vitest";
import { ControlStripper, showControls, showOnOneLine, stripControls } from "./plain-text.ts";

const hostile = [
  ["\x1b[31mred\x1b[0m", "red"],
  ["\x1b[2J\x1b[1;1Hhome", "home"],
  ["\x1b]0;title\x07text", "text"],
  ["\x1b]8;;https://example.com/a,b(c)!\x1b\\link\x1b]8;;\x1b\\", "link"],
  ["\x1b]52;c;cm0gLXJmIC8=\x07after", "after"],
  ["\x1bP+q544e\x1b\\after", "after"],
  ["\x9b31mred\x9d0;title\x9cafter", "redafter"],
  ["\x1b(Bplain\x1b=", "plain"],
  ["bell\x07 back\x08 null\0 delete\x7f", "bell back null delete"],
  ["10%\r20%\r\ndone\r\n", "10%\n20%\ndone\n"],
  ["tab\tand line\n", "tab\tand line\n"],
  ["grüße €😀", "grüße €😀"],
] as const;

test.each(hostile)("S12: %j becomes %j", (text, plain) => {
  expect(stripControls(text)).toBe(plain);
});

test("S12: sequences that are cut anywhere between two pieces are stripped too", () => {
  for (const [text, plain] of hostile) {
    for (let cut = 0; cut <= text.length; cut += 1) {
      const stripper = new ControlStripper();
      expect(stripper.push(text.slice(0, cut)) + stripper.push(text.slice(cut)) + stripper.end()).toBe(plain);
    }
  }
});

test("S12: a sequence without an end causes no wait and no harm", () => {
  const stripper = new ControlStripper();
  const text = stripper.push(`\x1b]0;${"x".repeat(10_000)}`) + stripper.push("after") + stripper.end();
  expect(text).toContain("after");
  expect(text).not.toMatch(/\p{Cc}/u);
});

test("stripping takes linear time on text made to be slow", () => {
  for (const piece of ["\x1b]", "\x1b[", "\x90", "\x9b0", "\x1b", "\r", "\x1b[;", "\x1bPx"]) {
    const stripper = new ControlStripper();
    const start = performance.now();
    stripper.push(piece.repeat(300_000));
    stripper.end();
    // Quadratic time would take minutes.
    expect(performance.now() - start).toBeLessThan(5000);
  }
});

test("S12: control characters from files are shown as pictures", () => {
  expect(showControls("a\x1b[31m\tb\x7f\x9b\r\n")).toBe("a\u241b[31m\tb\u2421\\u{9b}\u240d\n");
  expect(showOnOneLine("a\nb\tc")).toBe("a\u240ab\u2409c");
});
