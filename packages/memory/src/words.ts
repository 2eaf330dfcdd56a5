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
 * The different words of a query that may tell what it is about. Of scripts without spaces they are all pairs of
 * neighbours, as Lucene has it for Chinese and Japanese: no dictionary is needed to find where words begin.
 */
export function tellingWords(query: string): string[] {
  const telling = new Set<string>();
  for (const run of wordsOf(query.toLowerCase())) {
    for (const word of BEGINS_UNSPACED.test(run) ? pairsOf(run) : [run]) if (!COMMON.has(word)) telling.add(word);
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

/**
 * The words of English that tell least about what a sentence is about. In a memory of some size, how many entries hold a
 * word tells the same, in every language (find.ts).
 */
const COMMON: ReadonlySet<string> = new Set(
  `a about after again all also am an and any are as at be because been before being but by can could d did do does doing
  don down each even few for from get give go had has have having he her here hers him his how i if in into is it its just
  let like ll m make me more most my no nor not now of off on once only or other our out over own please re s same she
  should show so some such t tell than that the their them then there these they this those through to too under until up
  us ve very was we were what when where which while who whom why will with would yes you your`.split(/\s+/),
);
