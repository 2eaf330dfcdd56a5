import { describe, expect, test } from "vitest";
import { withoutColors } from "../screen/cells.ts";
import { createTheme } from "../theme/theme.ts";
import type { Look } from "./look.ts";
import { MarkdownStream } from "./markdown-stream.ts";

const look: Look = { theme: createTheme(1, "dark"), links: false };
const TEXTS = 2_000;
/** Elements of Markdown, valid and invalid. */
const FRAGMENTS = [
  ...[
    "# H\n",
    "text ",
    "**b** ",
    "*i",
    "* ",
    "`c` ",
    "`",
    "[l](http://x) ",
    "\n",
    "\n",
    "\n\n",
    "- a\n",
    "- b\n",
    "  - n\n",
  ],
  ...[
    "1. x\n",
    "2. y\n",
    "> q\n",
    "```ts\n",
    "```\n",
    "~~~\n",
    "| a | b |\n",
    "|---|---|\n",
    "| 1 | 2 |\n",
    "---\n",
    "===\n",
  ],
  ...[
    "<b>",
    "<div>\n",
    "&lt;",
    "    code\n",
    "\t",
    "- [ ] t\n",
    "word word word word ",
    "\\",
    "!",
    "[",
    "](",
    "~~s~~",
    "_u_",
  ],
];

/** Reproducible random numbers for a seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >> 8) % below;
  };
}

function finished(pieces: readonly string[], room: number): string[] {
  const stream = new MarkdownStream();
  const lines: string[] = [];
  for (const piece of pieces) {
    stream.push(piece);
    lines.push(...stream.show(30, room, look).finished.map(withoutColors));
  }
  stream.end();
  lines.push(...stream.show(30, room, look).finished.map(withoutColors));
  return lines;
}

describe("T22: random texts", () => {
  const next = numbers(7);
  const cases = Array.from({ length: TEXTS }, () => {
    const text = Array.from({ length: 1 + next(25) }, () => FRAGMENTS[next(FRAGMENTS.length)]).join("");
    const pieces: string[] = [];
    for (let at = 0; at < text.length; ) {
      const size = 1 + next(6);
      pieces.push(text.slice(at, at + size));
      at += size;
    }
    return { text, pieces };
  });

  test("come to the same in whatever pieces, where there is room for all that is open", () => {
    for (const { text, pieces } of cases) expect(finished(pieces, 1_000), text).toEqual(finished([text], 1_000));
  });

  test("lose no word where there is room for three lines", () => {
    // Line ends may differ, and also which marks count, because later text could have changed that.
    const words = (lines: readonly string[]) => lines.join("").replaceAll(/[^a-z\d]/g, "");
    for (const { text, pieces } of cases.filter((one) => !one.text.includes("&")))
      expect(words(finished(pieces, 3)), text).toBe(words(finished([text], 1_000)));
  });
});
