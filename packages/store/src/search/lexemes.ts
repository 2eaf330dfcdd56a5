import { fold, indexWords, spaceIndexText } from "./words.ts";

/** Code points of a word that the index keeps. The check of the text itself compares whole words. */
const LENGTH = 64;

/**
 * Returns the words of a text for an index without positions, without duplicates. If `patternOf` matches a text, all
 * its lexemes are in this set. The reverse may be false, so the index's candidates are checked again.
 */
export function lexemesOf(text: string): Set<string> {
  const lexemes = new Set<string>();
  for (const word of indexWords(spaceIndexText(fold(text)))) {
    const lexeme = cutLexeme(word.replace(/\p{Mn}/gu, ""));
    if (lexeme !== "") lexemes.add(lexeme);
  }
  return lexemes;
}

/** Returns a query word as lexemes. The last lexeme is a prefix if the word is a prefix or was cut. */
export function lexemesOfWord(word: string, beginning: boolean): { readonly text: string; readonly goesOn: boolean }[] {
  const all = Array.from(lexemesOf(word));
  return all.map((text, index) => ({
    text,
    goesOn: (beginning && index === all.length - 1) || Array.from(text).length === LENGTH,
  }));
}

function cutLexeme(word: string): string {
  return word.length <= LENGTH ? word : Array.from(word).slice(0, LENGTH).join("");
}
