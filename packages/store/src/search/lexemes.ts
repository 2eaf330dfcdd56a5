import { fold, indexWords, spaceIndexText } from "./words.ts";

/** Maximum code points of a word in the index. Searches compare whole words in the text. */
const LENGTH = 64;

/**
 * Returns the different words of a text for an index. The index alone is not exact: after a match, the text itself must
 * be checked.
 */
export function lexemesOf(text: string): Set<string> {
  const lexemes = new Set<string>();
  for (const word of indexWords(spaceIndexText(fold(text)))) {
    const lexeme = cutLexeme(word.replace(/\p{Mn}/gu, ""));
    if (lexeme !== "") lexemes.add(lexeme);
  }
  return lexemes;
}

/** Splits a word of a query into words of the index. `continues`: the word is a prefix. */
export function lexemesOfWord(
  word: string,
  beginning: boolean,
): { readonly text: string; readonly continues: boolean }[] {
  const all = Array.from(lexemesOf(word));
  return all.map((text, index) => ({
    text,
    continues: (beginning && index === all.length - 1) || Array.from(text).length === LENGTH,
  }));
}

function cutLexeme(word: string): string {
  return word.length <= LENGTH ? word : Array.from(word).slice(0, LENGTH).join("");
}
