/** Scripts that write no spaces: each of their characters counts as a word's part of its own. */
const UNSPACED = "[\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}]";
const LETTER = `[[\\p{L}\\p{N}\\p{M}\\p{Co}]--${UNSPACED}]`;

const WORDS = /[\p{L}\p{N}\p{M}\p{Co}]+/gv;
const UNSPACED_CHARACTER = new RegExp(UNSPACED, "gv");

/** In a text of megabytes without a gap, one match would be too many characters for the engine. */
const PIECES = /[\p{L}\p{N}\p{M}\p{Co}]{1,1000}/gv;

/** The words of a text; one of more than a thousand characters comes in pieces. */
export function piecesOf(text: string): string[] {
  return text.match(PIECES) ?? [];
}

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

/** Returns whether a text has all the words of a query. */
export function holdsWords(words: readonly string[]): (text: string) => boolean {
  const patterns = words.map((word, index) => new RegExp(patternOf(word, index === words.length - 1), "v"));
  return (text) => {
    const folded = fold(text);
    return patterns.every((pattern) => pattern.test(folded));
  };
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
