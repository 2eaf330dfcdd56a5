import { stopWordsOf, withoutStopWords } from "./stop-words.ts";

/** Scripts without spaces between words. */
const UNSPACED = "[\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}]";
const RUNS = new RegExp(`${UNSPACED}+|[[\\p{L}\\p{N}\\p{M}\\p{Co}]--${UNSPACED}]+`, "gv");
const UNSPACED_CHARACTER = new RegExp(UNSPACED, "gv");
const BEGINS_UNSPACED = new RegExp(`^${UNSPACED}`, "v");

/** Maximum different words of a query. */
const MOST_WORDS = 64;

/** The words of a text. In scripts without spaces, a word is a run of characters. */
export function textWords(text: string): string[] {
  return text.match(RUNS) ?? [];
}

/** The number of words in a text. In scripts without spaces, two characters count as one word. */
export function wordCount(text: string): number {
  return textWords(text).reduce((count, run) => count + (BEGINS_UNSPACED.test(run) ? run.length / 2 : 1), 0);
}

/**
 * The different words of a query that may show its subject, without stop words of its language (F108). In larger memories,
 * the number of entries with a word shows this in any language (find.ts). In scripts without spaces, all pairs of
 * neighbouring characters are words, as in Lucene for Chinese and Japanese: no dictionary is needed.
 */
export function tellingWords(query: string): string[] {
  const telling = new Set<string>();
  const runs = textWords(query.toLowerCase());
  const stopWords = stopWordsOf(runs);
  for (const run of runs) {
    if (BEGINS_UNSPACED.test(run)) for (const pair of withoutStopWords(run).flatMap(characterPairs)) telling.add(pair);
    else if (!stopWords.has(run)) telling.add(run);
    if (telling.size >= MOST_WORDS) break;
  }
  return Array.from(telling).slice(0, MOST_WORDS);
}

function characterPairs(run: string): string[] {
  const characters = Array.from(run);
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

/** A word for FTS5. Quotation marks keep it from being an operator; it only has letters and digits. */
export function phrase(word: string): string {
  return `"${spaceMemoryText(word)}"`;
}

/**
 * Adds spaces for an index that splits words at spaces. Entries are deleted from the index by the same text: a change here
 * needs a new version of the file.
 */
export function spaceMemoryText(text: string): string {
  return text.replace(UNSPACED_CHARACTER, " $& ");
}
