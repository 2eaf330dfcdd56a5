import { stripVTControlCharacters } from "node:util";

/** Breaks a sentence of the program's own into lines of at most `width` characters, between words. Colours count for nothing. */
export function wrap(sentence: string, width: number): string {
  let column = 0;
  let text = "";
  for (const word of sentence.split(" ")) {
    const length = stripVTControlCharacters(word).length;
    const fits = column + 1 + length <= width;
    text += column === 0 ? word : fits ? ` ${word}` : `\n${word}`;
    column = column === 0 || !fits ? length : column + 1 + length;
  }
  return text;
}
