import { describe, expect, test } from "vitest";
import { withoutColors } from "../screen/cells.ts";
import { createTheme } from "../theme/theme.ts";
import type { Look } from "./look.ts";
import { MarkdownStream, markdownLines } from "./markdown-stream.ts";

const look: Look = { theme: createTheme(1, "dark"), links: false };

/** The words of the final lines of a text in pieces of this size. */
function words(text: string, size: number): string {
  const stream = new MarkdownStream();
  let shown = "";
  const look80 = () =>
    stream
      .show(80, 20, look)
      .finished.map((line) => `${withoutColors(line)}\n`)
      .join("");
  for (let at = 0; at < text.length; at += size) {
    stream.push(text.slice(at, at + size));
    shown += look80();
  }
  stream.end();
  return `${shown}${look80()}`.replaceAll(/\s+/g, " ").trim();
}

test.each([
  ["quotations", `${">".repeat(5_000)} deepest`],
  ["lists", Array.from({ length: 1_000 }, (_, level) => `${"  ".repeat(level)}- level${level}`).join("\n")],
])("T22: a thousand levels of %s neither end the program nor lose a word", (_, text) => {
  const shown = markdownLines(text, 80, look).join("").replaceAll(/\s/g, "");
  for (const word of text.match(/[a-z]+\d*/g) ?? []) expect(shown).toContain(word);
});

test("T60: footnotes below each other are lines of their own", () => {
  const notes = "[^1]: The first note.\n[^2]: The second one,\nwhich goes on.\n[rfc]: https://a.example/p\n";
  expect(markdownLines(notes, 80, look)).toEqual([
    "[^1]: The first note.",
    "[^2]: The second one, which goes on.",
    "[rfc]: https://a.example/p",
  ]);
});

describe("T60: nothing that the model wrote vanishes", () => {
  test.each([
    ["a list that begins with 0", "0. zero\n1. one\n", "0. zero 1. one"],
    [
      "a link and its address elsewhere",
      "See [the *a*][x].\n\n[x]: https://a.example/p\n",
      "See [the a][x]. [x]: https://a.example/p",
    ],
    ["a definition nobody refers to", 'Well.\n\n[y]: https://b.example "B"\n', 'Well. [y]: https://b.example "B"'],
    ["a picture that is defined elsewhere", "![oak][x]\n\n[x]: /oak.png\n", "![oak][x] [x]: /oak.png"],
    ["a footnote", "A note[^1].\n\n[^1]: The text.\n", "A note[^1]. [^1]: The text."],
  ])("%s, streamed in any pieces", (_name, text, expected) => {
    for (let size = 1; size <= text.length; size++) expect(words(text, size), `${size}`).toBe(expected);
  });
});
