import { stopWordsOf, withoutStopWords } from "./stop-words.ts";

/** Scripts that write no spaces between words. */
const UNSPACED = "[\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}]";
const RUNS = new RegExp(`${UNSPACED}+|[[\\p{L}\\p{N}\\p{M}\\p{Co}]--${UNSPACED}]+`, "gv");
const UNSPACED_CHARACTER = new RegExp(UNSPACED, "gv");
const BEGINS_UNSPACED = new RegExp(`^${UNSPACED}`, "v");

/** The most different words of a query that are looked at. */
const MOST_WORDS = 64;

/** The words of a text; of a script without spaces, each run of characters. */
export function wordsOf(text: string): string[] {
  return text.match(RUNS) ?? [];
}

/** How many words a text has; in scripts without spaces, two characters count as one. */
export function wordCount(text: string): number {
  return wordsOf(text).reduce((count, run) => count + (BEGINS_UNSPACED.test(run) ? run.length / 2 : 1), 0);
}

/**
 * The different words of a query that may tell what it is about, without the stop words of its language (F108). In a memory
 * of some size, the number of entries that hold a word tells the same in every language (find.ts). A text of a script
 * without spaces has all pairs of neighbours as words, as Lucene has it for Chinese and Japanese: no dictionary is needed.
 */
export function tellingWords(query: string): string[] {
  const telling = new Set<string>();
  const runs = wordsOf(query.toLowerCase());
  const stopWords = stopWordsOf(runs);
  for (const run of runs) {
    if (BEGINS_UNSPACED.test(run)) for (const pair of withoutStopWords(run).flatMap(pairsOf)) telling.add(pair);
    else if (!stopWords.has(run)) telling.add(run);
    if (telling.size >= MOST_WORDS) break;
  }
  return Array.from(telling).slice(0, MOST_WORDS);
}

function pairsOf(run: string): string[] {
  const characters = Array.from(run);
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

/** A word as FTS5 looks for it. It holds letters and digits alone: in quotation marks, it is no operator whatever it is. */
export function phrase(word: string): string {
  return `"${spaced(word)}"`;
}

/**
 * A text for an index that knows words by the spaces between them. What is in the index is deleted by the text that was
 * put there: a change here needs a new version of the file.
 */
export function spaced(text: string): string {
  return text.replace(UNSPACED_CHARACTER, " $& ");
}
