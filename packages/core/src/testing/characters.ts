import { checkArguments } from "../conversation/option-names.ts";

/** Visible characters of one or several code points. */
const CHARACTERS = [
  ...[
    "👨\u200d👩\u200d👧\u200d👦",
    "e\u0301",
    "🇩🇪",
    "\u1112\u1161\u11ab",
    "क\u094dष\u093f",
    "🌳",
    "👍🏽",
    "1\ufe0f\u20e3",
    "❤\ufe0f",
  ],
  ...["a", "ß", " ", "日"],
] as const;

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/**
 * Returns texts for tests of cutting, each as a list of its characters. The same numbers give the same texts.
 * @example for (const characters of characterTexts(10, 20)) console.log(characters.join("").length);
 */
export function characterTexts(count: number, longest: number): string[][] {
  checkArguments("characterTexts", { count, longest }, { count: "number", longest: "number" });
  let state = 11;
  const up = (most: number) => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 0x9e3779b9) | 0;
    return (state >>> 4) % most;
  };
  const text = () => Array.from({ length: 1 + up(longest) }, () => CHARACTERS[up(CHARACTERS.length)] as string);
  return Array.from({ length: count }, text);
}

/**
 * Returns the characters of a text that a cut has split. Ignores marks of cuts, `…` and `[... ...]`.
 * @example
 * for (const characters of characterTexts(10, 20)) console.log(tornCharacters(cutTo(characters.join(""), 9)));
 */
export function tornCharacters(text: string): string[] {
  checkArguments("tornCharacters", { text }, { text: "string" });
  const known = new Set<string>([...CHARACTERS, "\n"]);
  const pieces = text.split(/\n?\[\.\.\. [^\]]*\]\n?|…/);
  return pieces
    .flatMap((piece) => Array.from(graphemes.segment(piece), ({ segment }) => segment))
    .filter((one) => !known.has(one));
}
