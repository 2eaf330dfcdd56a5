import fc from "fast-check";
import { parse, postprocess, preprocess } from "micromark";
import { expect, test } from "vitest";
import { blocksOf, expectedBlocks, Recorder } from "./blocks.fixture.ts";

const lineEnd = fc.constantFrom("\n", "\n", "\n", "\r\n", "\r");
const indent = fc.constantFrom("", "", "", " ", "  ", "   ", "    ", "\t", " \t");
const markers = fc.constantFrom("`", "``", "```", "```", "```", "````", "`````", "~~", "~~~", "~~~", "~~~~");
const words = fc.constantFrom("", "", "", " ", "\t ", "a", "ts:1:2", "a b", " `", "~", "\ud83d\ude00", "\u2028", "\0");

/** Markdown with many fences and near-fences, without lists, quotes and HTML. */
const plainMarkdown = fc
  .array(
    fc.oneof(
      fc.tuple(indent, markers, words, lineEnd).map((parts) => parts.join("")),
      fc.tuple(indent, words, words, lineEnd).map((parts) => parts.join("")),
    ),
    { maxLength: 24 },
  )
  .chain((lines) => fc.constantFrom(lines.join(""), lines.join("").replace(/[\r\n]+$/, ""), `${lines.join("")}\`\`\``));

/** The same with lists, quotes, HTML, lone surrogates and random lines. */
const markdown = fc
  .array(
    fc.oneof(
      plainMarkdown,
      fc.constantFrom("- ", "-  ", " * ", "1. ", "9) ", "10. ", "> ", "<div>", "\ud83d", "\ude00"),
      fc.string({ unit: "binary", maxLength: 3 }),
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(""));

/** A text cut into pieces at random places, also within characters; some pieces are empty. */
const inPieces = (text: fc.Arbitrary<string>) =>
  fc.tuple(text, fc.array(fc.nat({ max: 400 }), { maxLength: 60 })).map(([whole, cuts]) => {
    const places = [0, ...cuts.filter((at) => at <= whole.length).sort((a, b) => a - b), whole.length];
    return places.slice(1).map((end, index) => whole.slice(places[index], end));
  });

test("B28: a text has the same blocks, however it is cut", () => {
  fc.assert(
    fc.property(inPieces(markdown), (pieces) => {
      expect(blocksOf(...pieces)).toEqual(expectedBlocks(pieces.join("")));
    }),
    { numRuns: 3000 },
  );
});

test("B28: after each character, all is passed on but a line that may still be a closing fence", () => {
  fc.assert(
    fc.property(markdown, (text) => {
      const recorder = new Recorder();
      for (let at = 1; at <= text.length; at += 1) {
        recorder.push(text.slice(at - 1, at));
        const expected = expectedBlocks(text.slice(0, at)).at(-1);
        const block = recorder.blocks.at(-1);
        // A fence is only certain at the end of its line.
        if (!expected || !block || expected.line !== block.line || expected.end === "closed") continue;
        const heldBack = expected.text.slice(block.text.length);
        expect(expected.text).toBe(block.text + heldBack);
        expect(heldBack).toMatch(/^ {0,3}(`*|~*|`{3,}[ \t]*|~{3,}[ \t]*)[\r\ud800-\udbff]?$/);
      }
    }),
    { numRuns: 500 },
  );
});

test("B28: micromark finds the same fences in Markdown without lists, quotes and HTML", () => {
  fc.assert(
    fc.property(plainMarkdown, (text) => {
      expect(blocksOf(text).map(({ text: _, ...fence }) => fence)).toEqual(micromarkFences(text));
    }),
    { numRuns: 3000 },
  );
});

test.each([
  "- ```js\n  a\n  ```\n\n```ts\nb\n```\n",
  "1. Do this:\n   ```\n   a\n   ```\n2. ```\n   c\n   ```\n~~~\n~~~",
  "-  ```\n   a\n   ```\n + ```\n   b\n   ```\n*) ```\n",
  "10. ```\n    a\n    ```\nb\n",
])("B28: in lists that are written as they should be, at most three columns deep, too: %j", (text) => {
  const upToThreeColumns = micromarkFences(text).filter(({ indent }) => indent <= 3);
  expect(blocksOf(text).map(({ text: _, ...fence }) => fence)).toEqual(upToThreeColumns);
});

/** Returns the fences of a text according to micromark. */
function micromarkFences(text: string) {
  const events = postprocess(
    parse()
      .document()
      .write(preprocess()(text, undefined, true)),
  );
  const fences: { line: number; marker: string; length: number; indent: number; info: string; end: string }[] = [];
  const lines = text.split(/\r\n|\n|\r/);
  let sequences = 0;
  for (const [kind, { type, start, end }] of events) {
    if (kind === "enter" && type === "codeFenced") sequences = 0;
    if (kind === "enter" && type === "codeFencedFenceSequence") {
      sequences += 1;
      if (sequences > 1) continue;
      const line = lines[start.line - 1] ?? "";
      fences.push({
        line: start.line,
        marker: text.charAt(start.offset),
        length: end.offset - start.offset,
        indent: start.column - 1,
        info: line.slice(end.column - 1).replace(/^[ \t]+|[ \t]+$/g, ""),
        end: "unclosed",
      });
    }
    const last = fences.at(-1);
    if (kind === "exit" && type === "codeFenced" && last && sequences === 2) last.end = "closed";
  }
  return fences;
}
