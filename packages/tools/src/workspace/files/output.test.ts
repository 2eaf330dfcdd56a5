import { characterTexts, tornCharacters } from "@banyan/core/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeText } from "../../web/decode.ts";
import { Journal } from "../commands/journal.ts";
import { BoundedOutput, cutToBytes, wholeLength, wholeWordsLength } from "./output.ts";

test("a short output is kept as it is", () => {
  const output = new BoundedOutput({ head: 4, tail: 4 });
  for (const piece of ["ab", "cdef", "gh"]) output.push(piece);
  expect(output.text()).toBe("abcdefgh");
  expect(output.bytes).toBe(8);
});

test("B16: a long output keeps head and tail, with the number of dropped bytes", () => {
  const output = new BoundedOutput({ head: 4, tail: 4 });
  for (const piece of ["abc", "def", "0123456789", "uvw", "xyz"]) output.push(piece);
  expect(output.text()).toBe("abcd\n[... 14 bytes dropped ...]\nwxyz");
  output.push("!");
  expect(output.text()).toBe("abcd\n[... 15 bytes dropped ...]\nxyz!");
});

test("cuts are between characters, and the count includes the cut bytes", () => {
  const output = new BoundedOutput({ head: 4, tail: 4 });
  output.push("a€€€€€z");
  expect(output.text()).toBe("a€\n[... 9 bytes dropped ...]\n€z");
});

test("F18: memory stays bounded, in large pieces and in tiny ones", () => {
  const output = new BoundedOutput({ head: 1000, tail: 1000 });
  const before = process.memoryUsage().arrayBuffers;
  for (let round = 0; round < 2000; round += 1) output.push("y\n".repeat(50_000));
  for (let round = 0; round < 100_000; round += 1) output.push("z");
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100_000_000);
  expect(output.text()).toMatch(/^(y\n){500}\n\[\.\.\. 200098000 bytes dropped \.\.\.\]\nz{1000}$/);
});

test.each([
  ["abc", 3],
  ["ab€", 5],
])("bytes that end with a whole character are whole: %s", (text, length) => {
  expect(wholeLength(Buffer.from(text))).toBe(length);
});

test("no part of a cut character remains", () => {
  for (const character of ["ä", "€", "😀"]) {
    const bytes = Buffer.from(`a${character}`);
    for (let cut = 2; cut < bytes.length; cut += 1) expect(wholeLength(bytes.subarray(0, cut))).toBe(1);
  }
});

test.each([
  ["a key=ghp_abc", 2],
  ['{"key":"ghp_abcd', 8],
  ["one word ", 9],
  ["one short", 9],
  ["oneword", 7],
  [`a ${"x".repeat(512)}`, 2],
  [`a ${"x".repeat(513)}`, 515],
])("S10: no part of a word that may be half a secret remains, unless the output would be empty: %s", (text, length) => {
  expect(wholeWordsLength(Buffer.from(text))).toBe(length);
});

test("S10: at most seven characters of a cut token remain", () => {
  const token = fc.stringMatching(/^[\w.\-+/=~:@%]{8,512}$/);
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), token, fc.nat(), (before, word, place) => {
      const start = Buffer.byteLength(`${before} `);
      const cut = Buffer.from(`${before} ${word}`).subarray(0, start + 1 + (place % word.length));
      expect(wholeWordsLength(cut)).toBeLessThan(start + 8);
    }),
  );
});

/** Functions that cut texts in pieces, by the size of the result. */
const CUTS: Readonly<Record<string, (pieces: readonly string[], size: number) => string>> = {
  "output of a program": (pieces, size) => {
    const output = new BoundedOutput({ head: size, tail: size });
    for (const piece of pieces) output.push(piece);
    return output.text();
  },
  "text of a page": (pieces, size) => cutToBytes(pieces.join(""), size),
  "a page that is not loaded to its end": (pieces, size) =>
    decodeText(Buffer.from(pieces.join("")).subarray(0, size), "utf-8", Buffer.from(pieces.join("")).subarray(size)),
  "the journal of an MCP server": (pieces, size) => {
    const journal = new Journal();
    journal.push("a".repeat(2_000 - size));
    for (const piece of pieces) journal.push(piece);
    const open = journal.text;
    journal.note("log", `${"a".repeat(1_980 - size)}${pieces.join("")}`);
    return `${open}\n${journal.text.replace("log: ", "")}`.replaceAll(/a{200,}/g, "");
  },
};

test.each(Object.keys(CUTS))("F46: %s is never cut inside a character", (name) => {
  for (const [index, characters] of characterTexts(process.env.BANYAN_LONG ? 5_000 : 150, 60).entries()) {
    const shown = CUTS[name]?.(characters, 1 + (index % 90)) ?? "";
    expect(tornCharacters(shown), `text ${index}: ${shown}`).toEqual([]);
  }
});
