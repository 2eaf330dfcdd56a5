/** In these scripts without spaces, each character counts as a word. */
const UNSPACED = "[\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}]";
const LETTER = `[[\\p{L}\\p{N}\\p{M}\\p{Co}]--${UNSPACED}]`;

const WORDS = /[\p{L}\p{N}\p{M}\p{Co}]+/gv;
const UNSPACED_CHARACTER = new RegExp(UNSPACED, "gv");

/** A longer match would fail in the engine. */
const PIECES = /[\p{L}\p{N}\p{M}\p{Co}]{1,1000}/gv;

/** Returns the words of a text. A word of more than a thousand characters is split. */
export function indexWords(text: string): string[] {
  return text.match(PIECES) ?? [];
}

/** Returns the words of a query; may be empty. */
export function queryWords(query: string): string[] {
  return query.toWellFormed().match(WORDS) ?? [];
}

/** Returns a regular expression for a word, or for a prefix with `beginning`, in text from `fold`. */
export function searchPattern(word: string, beginning: boolean): string {
  const characters = Array.from(fold(word));
  const spaced = (character: string | undefined) => character?.search(UNSPACED_CHARACTER) === -1;
  const before = spaced(characters[0]) ? `(?<!${LETTER})` : "";
  const after = spaced(characters.at(-1)) && !beginning ? `(?!${LETTER})` : "";
  return `${before}${characters.join("\\p{Mn}*")}\\p{Mn}*${after}`;
}

/** Returns a function that tests whether a text contains all words of a query. */
export function holdsWords(words: readonly string[]): (text: string) => boolean {
  const patterns = words.map((word, index) => new RegExp(searchPattern(word, index === words.length - 1), "v"));
  return (text) => {
    const folded = fold(text);
    return patterns.every((pattern) => pattern.test(folded));
  };
}

/** Converts text to lower case without accents. Each character keeps its position. */
export function fold(text: string): string {
  return text.replace(/[A-Z]+|\P{ASCII}/gu, (piece) => {
    const base = /^(.)\p{Mn}+$/su.exec(piece.normalize("NFD"))?.[1] ?? piece;
    const folded = base.toLowerCase();
    return folded.length === piece.length ? folded : piece;
  });
}

/** Adds spaces around characters of scripts without spaces, for an index that splits words at spaces. */
export function spaceIndexText(text: string): string {
  return text.toWellFormed().replaceAll("\0", " ").replace(UNSPACED_CHARACTER, " $& ");
}
