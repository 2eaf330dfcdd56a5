import { fold, piecesOf, spaced } from "./words.ts";

/** Code points of a word that an index keeps; what looks into the text itself sees the rest. */
const LENGTH = 64;

/**
 * The words of a text as an index without places knows them, each once: whatever `patternOf` finds in a text has all its
 * lexemes there. The reverse need not hold, so what an index finds is looked at once more.
 */
export function lexemesOf(text: string): Set<string> {
  const lexemes = new Set<string>();
  for (const word of piecesOf(spaced(fold(text)))) {
    const lexeme = cut(word.replace(/\p{Mn}/gu, ""));
    if (lexeme !== "") lexemes.add(lexeme);
  }
  return lexemes;
}

/** A word of a query as lexemes, the last of which may go on where the word may or where it was cut. */
export function lexemesOfWord(word: string, beginning: boolean): { readonly text: string; readonly goesOn: boolean }[] {
  const all = Array.from(lexemesOf(word));
  return all.map((text, index) => ({
    text,
    goesOn: (beginning && index === all.length - 1) || Array.from(text).length === LENGTH,
  }));
}

function cut(word: string): string {
  return word.length <= LENGTH ? word : Array.from(word).slice(0, LENGTH).join("");
}
