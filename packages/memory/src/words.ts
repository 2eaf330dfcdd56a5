import { stopWordsOf, withoutStopWords } from "./stop-words.ts";

/** Scripts without spaces between words. */
const UNSPACED = "[\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}]";
const RUNS = new RegExp(`${UNSPACED}+|[[\\p{L}\\p{N}\\p{M}\\p{Co}]--${UNSPACED}]+`, "gv");
const UNSPACED_CHARACTER = new RegExp(UNSPACED, "gv");
const BEGINS_UNSPACED = new RegExp(`^${UNSPACED}`, "v");

/** Maximum different words of a query. */
const MOST_WORDS = 64;

/** Returns the words of a text. In scripts without spaces, a word is a run of characters. */
export function textWords(text: string): string[] {
  return text.match(RUNS) ?? [];
}

/** Returns the number of words in a text. In scripts without spaces, two characters count as a word. */
export function wordCount(text: string): number {
  return textWords(text).reduce((count, run) => count + (BEGINS_UNSPACED.test(run) ? run.length / 2 : 1), 0);
}

/**
 * Returns the different words of a query without the stop words of its language (F108). In scripts without spaces, each
 * pair of neighbouring characters is a word, as in Lucene, so that no dictionary is needed.
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

/** Quotes a word for an FTS5 query, so that the word cannot be an operator. `word` has only letters and digits. */
export function phrase(word: string): string {
  return `"${spaceMemoryText(word)}"`;
}

/** Adds spaces for an index that splits words at spaces. A change of this function needs a new file version. */
export function spaceMemoryText(text: string): string {
  return text.replace(UNSPACED_CHARACTER, " $& ");
}
