/** Scripts that write no spaces: each of their characters counts as a word's part of its own. */
const UNSPACED = "[\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}]";
const LETTER = `[[\\p{L}\\p{N}\\p{M}\\p{Co}]--${UNSPACED}]`;

const WORDS = /[\p{L}\p{N}\p{M}\p{Co}]+/gv;
const UNSPACED_CHARACTER = new RegExp(UNSPACED, "gv");

/** The words of a query. There may be none. */
export function wordsOf(query: string): string[] {
  return query.toWellFormed().match(WORDS) ?? [];
}

/**
 * A pattern for a word in a text that was folded: whole, or its beginning. In a script without spaces it may stand
 * anywhere.
 */
export function patternOf(word: string, beginning: boolean): string {
  const characters = Array.from(fold(word));
  const spaced = (character: string | undefined) => character?.search(UNSPACED_CHARACTER) === -1;
  const before = spaced(characters[0]) ? `(?<!${LETTER})` : "";
  const after = spaced(characters.at(-1)) && !beginning ? `(?!${LETTER})` : "";
  return `${before}${characters.join("\\p{Mn}*")}\\p{Mn}*${after}`;
}

/** A text in lower case and without accents, each character at its old place. */
export function fold(text: string): string {
  return text.replace(/[A-Z]+|\P{ASCII}/gu, (piece) => {
    const base = /^(.)\p{Mn}+$/su.exec(piece.normalize("NFD"))?.[1] ?? piece;
    const folded = base.toLowerCase();
    return folded.length === piece.length ? folded : piece;
  });
}

/** A text for an index that knows words by the spaces between them. */
export function spaced(text: string): string {
  return text.toWellFormed().replaceAll("\0", " ").replace(UNSPACED_CHARACTER, " $& ");
}
