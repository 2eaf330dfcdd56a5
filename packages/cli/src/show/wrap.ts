import { stripVTControlCharacters } from "node:util";

/**
 * Breaks a sentence of the program's own into lines of at most `width` characters, between words; all are set in as the
 * first one is. Colours count for nothing.
 */
export function wrap(sentence: string, width: number): string {
  const [indent = ""] = /^ */.exec(sentence) ?? [];
  let column = indent.length;
  let text = indent;
  for (const [index, word] of sentence.slice(indent.length).split(" ").entries()) {
    const length = stripVTControlCharacters(word).length;
    const fits = column + 1 + length <= width;
    text += index === 0 ? word : fits ? ` ${word}` : `\n${indent}${word}`;
    column = index === 0 ? column + length : fits ? column + 1 + length : indent.length + length;
  }
  return text;
}
