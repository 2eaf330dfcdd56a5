import { describe, expect, test } from "vitest";
import { openWorkspace } from "../files/paths.ts";
import { call, TestFolder } from "../test-folder.fixture.ts";
import { editTool } from "./edit.ts";

const LONG = process.env.BANYAN_LONG === "1";

/** Edits a file. Returns the tool's result or refusal, and the file's content. */
async function edit(before: string, old_text: string, new_text: string) {
  using folder = new TestFolder({ "a.txt": Buffer.from(before) });
  const answer = await call(editTool(openWorkspace(folder.root)), { path: "a.txt", old_text, new_text }).then(
    (said) => ({ isDone: true, said }),
    (error: Error) => ({ isDone: false, said: error.message }),
  );
  return { ...answer, after: Buffer.from(folder.read("a.txt"), "latin1").toString("utf8") };
}

describe("F81, K13: text that resembles old_text, at one place", () => {
  test.each([
    [
      "a no-break space",
      "in\u00a0current mode\n",
      "in current",
      "in next",
      "in\u00a0next mode\n",
      "a no-break space (U+00A0) where you wrote a space",
    ],
    [
      "curly quotes",
      "\u201cit\u2019s\u201d fine\n",
      '"it\'s" fine',
      '"it\'s" good',
      "\u201cit\u2019s\u201d good\n",
      '"\u201c" (U+201C) where you wrote """, and 2 more such places',
    ],
    [
      "a dash",
      "pages 3\u20135 of 7\n",
      "pages 3-5",
      "pages 3-6",
      "pages 3\u20136 of 7\n",
      '"\u2013" (U+2013) where you wrote "-"',
    ],
    [
      "decomposed letters",
      "cafe\u0301 noir\n",
      "caf\u00e9 noir",
      "caf\u00e9 blanc",
      "cafe\u0301 blanc\n",
      '"e", U+0301 where you wrote "\u00e9" (U+00E9)',
    ],
    [
      "composed letters",
      "caf\u00e9 noir\n",
      "cafe\u0301 noir",
      "cafe\u0301 blanc",
      "caf\u00e9 blanc\n",
      '"\u00e9" (U+00E9) where you wrote "e", U+0301',
    ],
    ["Hangul", "\ud55c\uae00 1\n", "\u1112\u1161\u11ab\u1100\u1173\u11af 1", "x 2", "x 2\n", "U+1112"],
    [
      "the other way round",
      "a b\n",
      "a\u202fb",
      "a\u202fc",
      "a c\n",
      "a space where you wrote a narrow no-break space (U+202F)",
    ],
    [
      "line ends of Windows",
      "a\u00a0b\r\nc\r\n",
      "a b\nc",
      "a b\nd",
      "a\u00a0b\r\nd\r\n",
      "a no-break space (U+00A0) where you wrote a space",
    ],
    [
      "a change between two others",
      "\u2018a\u2019 b \u2018c\u2019\n",
      "'a' b 'c'",
      "'a' x 'c'",
      "\u2018a\u2019 x \u2018c\u2019\n",
      "U+2018",
    ],
  ])(
    "%s: edit uses the place, says so, and keeps the file's characters",
    async (_, before, old_text, new_text, after, said) => {
      const edited = await edit(before, old_text, new_text);
      expect(edited.said).toContain("[old_text was matched by look-alike characters. Line 1 has ");
      expect(edited.said).toContain(said);
      expect(edited.said).toMatch(/ Where new_text repeats old_text, the file keeps its own\.\]$/);
      expect(edited.after).toBe(after);
    },
  );

  test("edit prefers an exact place, and writes characters that new_text changes as they are", async () => {
    expect((await edit("a\u00a0b\na b\n", "a b", "x")).after).toBe("a\u00a0b\nx\n");
    expect((await edit("say \u201cyes\u201d\n", 'say "yes"', "say 'yes'")).after).toBe("say 'yes'\n");
  });

  test("two such places are refused, with their lines", async () => {
    const { isDone, said } = await edit("a\u00a0b\na\u202fb\n", "a b", "x");
    expect(isDone).toBe(false);
    expect(said).toBe(
      "old_text does not occur exactly, and apart from look-alike characters it occurs 2 times in a.txt, at lines 1, 2. Include more of the surrounding text.",
    );
  });

  test("edit refuses a place that already has new_text", async () => {
    expect(await edit("\u201cyes\u201d\n", '"yes"', "\u201cyes\u201d")).toMatchObject({
      isDone: false,
      said: 'a.txt already contains new_text there, so nothing was changed. Line 1 has "\u201c" (U+201C) where you wrote """, and 1 more such place.',
    });
  });
});

test.each([
  ["a tab", "\tx();\n", "    x();", "a tab where you wrote 4 spaces"],
  ["a tab in a line", "a\tb\n", "a b", "a tab where you wrote a space"],
  ["tabs of a later line", "f {\n\t\tx();\n}\n", "f {\n        x();", "2 tabs where you wrote 8 spaces"],
  [
    "an indentation of no-break spaces",
    "f {\n\u00a0\u00a0x();\n}\n",
    "f {\n  x();",
    "2 no-break spaces (U+00A0) where you wrote 2 spaces",
  ],
  ["the same on the first line", "\u00a0\u00a0x();\n", "  x();", "2 no-break spaces (U+00A0) where you wrote 2 spaces"],
  [
    "an indentation written with no-break spaces",
    "  x();\n",
    "\u00a0\u00a0x();",
    "2 spaces where you wrote 2 no-break spaces (U+00A0)",
  ],
  ["blanks at the end of a line", "a;  \nb;\n", "a;\nb;", "2 spaces where you wrote nothing"],
  ["a thin space", "10\u2009km\n", "10 km", "U+2009 where you wrote a space"],
  ["an ideographic space", "日本\u3000語\n", "日本 語", "an ideographic space (U+3000) where you wrote a space"],
  ["a zero-width space", "let\u200b x\n", "let x", "a zero-width space (U+200B) where you wrote nothing"],
  ["a soft hyphen that was written", "hyphen\n", "hy\u00adphen", "nothing where you wrote a soft hyphen (U+00AD)"],
  ["a Cyrillic letter", "let p\u0430ss = 1\n", "let pass = 1", '"\u0430" (U+0430) where you wrote "a"'],
  ["one word alone", "p\u0430ss\n", "pass", '"\u0430" (U+0430) where you wrote "a"'],
  ["an ellipsis", "wait\u2026 now\n", "wait... now", '"\u2026" (U+2026) where you wrote "..."'],
  ["a missing line end", "a\nb", "a\nb\n", "Line 2 has nothing where you wrote a line end"],
  ["one line end of Windows among others", "a b\r\nc\n", "a b\nc", "line ends are mixed"],
  ["a carriage return that was written", "a b\nc\n", "a b\r\nc", "nothing where you wrote a carriage return"],
])("F81: %s is not taken for another character, and the refusal names it", async (_, before, old_text, said) => {
  const edited = await edit(before, old_text, "new");
  expect(edited).toMatchObject({ isDone: false, after: before });
  expect(edited.said).toContain("old_text does not occur in a.txt. ");
  expect(edited.said).toContain(said);
});

/** A character in a file, and a look-alike that a model may write. */
interface Swap {
  readonly one: string;
  readonly other: string;
  /** True: both match everywhere except in an indentation. */
  readonly folds: boolean;
}

const SWAPS: readonly Swap[] = [
  ...[..."\u00a0\u202f\u2007"].map((other) => ({ one: " ", other, folds: true })),
  ...[..."\u2018\u2019"].map((other) => ({ one: "'", other, folds: true })),
  ...[..."\u201c\u201d\u201e"].map((other) => ({ one: '"', other, folds: true })),
  ...[..."\u2010\u2011\u2013\u2014\u2212"].map((other) => ({ one: "-", other, folds: true })),
  ...[..."\u00e9\u00fc\u01d6\u1ec7\ud55c\u212b"].map((one) => ({ one, other: one.normalize("NFD"), folds: true })),
  ...[..."\t\u2003\u2009\u3000\u1680"].map((other) => ({ one: " ", other, folds: false })),
  { one: "    ", other: "\t", folds: false },
  ...[..."\u0430\u0251\uff41"].map((other) => ({ one: "a", other, folds: false })),
  ...[..."\u043e\u03bf\u0585"].map((other) => ({ one: "o", other, folds: false })),
  ...[..."\u200b\u200d\u2060\u00ad\ufeff\u202e\u034f"].map((other) => ({ one: "e", other: `e${other}`, folds: false })),
  { one: "fi", other: "\ufb01", folds: false },
  { one: "...", other: "\u2026", folds: false },
  { one: "\u00df", other: "\u03b2", folds: false },
  { one: "\u2013", other: "\u30fc", folds: false },
  { one: ";", other: "\u037e", folds: true },
];

const WORDS =
  'let total = price * count; // it\'s the "first" one-line file: caf\u00e9, na\u00efve \u8a9e 12 km ... fi'.split(" ");

function* numbers(seed: number): Generator<number, never> {
  for (let state = seed >>> 0; ; ) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield state / 2 ** 32;
  }
}

const INDENTATIONS = ["", "  ", "    ", "\t", "\t\t", "\u00a0\u00a0", " \u202f"];

/** A piece of a file, and its form in old_text. */
interface Piece {
  readonly file: string;
  readonly wanted: string;
  readonly folds: boolean;
}

/**
 * Runs one random edit. The generator knows the right place, so the tool's comparison does not judge itself. `old`
 * between two runs of pieces becomes `now`, and the pieces stay as in the file.
 */
async function play(seed: number): Promise<"done" | "refused"> {
  const random = numbers(seed * 7919 + 1);
  const below = (most: number) => Math.floor(random.next().value * most);
  const pick = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item;
  const line = () =>
    `${pick(INDENTATIONS)}${Array.from({ length: 2 + below(6) }, () => pick(WORDS)).join(" ")} ${below(1e6)}`;
  const lines = (most: number) => Array.from({ length: below(most) }, () => `${line()}\n`).join("");
  const isWrong = below(2) === 0;
  const same = (text: string): Piece => ({ file: text, wanted: text, folds: true });
  const swap = (): Piece => {
    const { one, other, folds } = pick(SWAPS.filter((each) => each.folds || isWrong));
    return below(2) === 0 ? { file: one, wanted: other, folds } : { file: other, wanted: one, folds };
  };
  const newLine = (): Piece => {
    const alike = below(2) === 0 ? INDENTATIONS : ["  ", "\u00a0\u00a0", " \u202f"];
    const [file, wanted] = [pick(alike), pick(alike)];
    return isWrong && below(3) === 0
      ? { file: `\n${file}`, wanted: `\n${wanted}`, folds: file === wanted }
      : same(`\n${file}`);
  };
  const run = () =>
    Array.from({ length: below(4) }, () => [
      same(pick(WORDS)),
      below(3) === 0 ? newLine() : swap(),
      same(pick(WORDS)),
      same(" "),
    ]).flat();
  const [before, behind] = [run(), run()];
  const [old, now] = [`=${below(1e9)}=`, `=${below(1e9)}= and more\n${line()}`];
  const of = (pieces: readonly Piece[], side: "file" | "wanted") => pieces.map((piece) => piece[side]).join("");
  const inFile = below(4) === 0 ? (text: string) => text.replaceAll("\n", "\r\n") : (text: string) => text;
  const whole = (middle: string) => inFile(`${head}${of(before, "file")}${middle}${of(behind, "file")}${tail}`);
  const [head, tail] = [`${lines(6)}${pick(["", "\t", "x "])}`, `\n${lines(6)}`];
  const wanted = (middle: string) => `${of(before, "wanted")}${middle}${of(behind, "wanted")}`;
  const file = whole(old);
  const { isDone, said, after } = await edit(file, wanted(old), wanted(now));
  const facts = JSON.stringify({ seed, file, wanted: wanted(old), said });
  const isFolded = [...before, ...behind].every(({ folds }) => folds);
  expect(isDone, facts).toBe(isFolded);
  expect(after, facts).toBe(isDone ? whole(now) : file);
  const differ = [...before, ...behind].filter((piece) => piece.file !== piece.wanted);
  if (differ.length > 0)
    expect(said, facts).toMatch(
      /Line \d+ has .*(U\+[0-9A-F]{4}|\btabs?\b|\bspaces?\b|"\.\.\."|"fi").* where you wrote|where you wrote .*(U\+[0-9A-F]{4}|\btabs?\b|\bspaces?\b)/,
    );
  return isDone ? "done" : "refused";
}

describe("F81: random edits with look-alikes", () => {
  test.each(LONG ? [1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009] : [0])(
    "are done at the right place, or refused with the character named (block %i)",
    async (block) => {
      const outcomes = { done: 0, refused: 0 };
      for (let seed = block * 100; seed < block * 100 + 100; seed += 1) outcomes[await play(seed)] += 1;
      expect(outcomes.done).toBeGreaterThan(20);
      expect(outcomes.refused).toBeGreaterThan(20);
    },
    60_000,
  );
});
