import type { DatabaseSync } from "node:sqlite";
import { phrase } from "./words.ts";

/** A search of the memory. Its result is a list of ids of entries, the best match first. */
export type MemoryQuery =
  /** Entries about these words, from other conversations. */
  | ({ readonly type: "about"; readonly words: readonly string[] } & RecallContext)
  /** Entries with a cosine similarity of at least `least`. */
  | ({
      readonly type: "near";
      readonly model: string;
      readonly vector: Float32Array;
      readonly least: number;
    } & RecallContext)
  | { readonly type: "all"; readonly words: readonly string[]; readonly limit: number };

/** The conversation and directory that a recall is for. */
export interface RecallContext {
  readonly conversation: string;
  readonly directory: string;
}

/** Maximum entries by words, and as many by meaning. */
const CANDIDATES = 50;
/** Maximum query words in a search: the rarest. */
const WORDS = 12;
/** An entry needs this share of the weight of the rarest words: one of four equally rare words, two of five. */
const TOLD_SHARE = 0.23;
const TOLD_WORDS = 8;
/** Below this number of entries, all words weigh nearly the same: few entries show little about a word's rarity. */
const ENTRIES_THAT_TELL = 1000;
/** A word is common if more than twenty entries, and more than one of eight, contain the word. */
const COMMON_SHARE = 8;
const FEW = 20;
/** Maximum milliseconds to compare vectors, newest first: about 200,000 vectors of 1,536 numbers on two cores. */
const COMPARING = 1500;

/** Runs a search. Throws SQLite's errors. */
export function findEntries(database: DatabaseSync, question: MemoryQuery): number[] {
  switch (question.type) {
    case "about":
      return findAbout(database, question.words, question);
    case "near":
      return near(database, question);
    case "all":
      return findAll(database, question.words, question.limit);
  }
}

/** SQL: true for an entry to recall. A model would take requests of other directories for current ones (B81). */
function recallable(entry: string): string {
  return `EXISTS (SELECT 1 FROM sources WHERE entry = ${entry} AND conversation NOT IN (SELECT conversation FROM off)
      AND (directory = :directory OR 'said' <> (SELECT kind FROM entries WHERE id = ${entry})))
    AND NOT EXISTS (SELECT 1 FROM sources WHERE entry = ${entry} AND conversation = nullif(:conversation, ''))`;
}

/** A word of a query. Rarer words weigh more. */
interface WeightedWord {
  readonly phrase: string;
  readonly weight: number;
  readonly isKnown: boolean;
}

/** Ranks by BM25, with the rarest words only, which is fast. Excludes entries that share one word by chance. */
function findAbout(
  database: DatabaseSync,
  words: readonly string[],
  { conversation, directory }: RecallContext,
): number[] {
  const telling = tellingMost(database, words);
  const known = telling.filter(({ isKnown }) => isKnown).slice(0, WORDS);
  if (known.length === 0) return [];
  // Rows come by rank; reading stops at enough rows.
  const select = database.prepare(
    `SELECT rowid AS id, rank FROM words WHERE words MATCH :phrases AND ${recallable("words.rowid")}
    ORDER BY rank LIMIT ${CANDIDATES}`,
  );
  const found = select.all({ conversation, directory, phrases: known.map(({ phrase }) => phrase).join(" OR ") });
  const fits = findFitting(database, telling, known);
  return found
    .map(({ id, rank }) => ({ id: Number(id), rank: Number(rank) }))
    .filter(({ id }) => fits(id))
    .sort((a, b) => a.rank - b.rank || b.id - a.id)
    .map(({ id }) => id);
}

/** Returns a function that tests whether an entry has enough of the query's weight, including its unknown words. */
function findFitting(database: DatabaseSync, telling: readonly WeightedWord[], known: readonly WeightedWord[]) {
  const needed = TOLD_SHARE * telling.slice(0, TOLD_WORDS).reduce((sum, { weight }) => sum + weight, 0);
  // Numbers are bound as floating point, and FTS5 does not look these up as row ids.
  const holds = database.prepare("SELECT 1 FROM words WHERE words MATCH :phrase AND rowid = CAST(:id AS INTEGER)");
  return (id: number) => {
    let held = 0;
    return known.some(({ phrase, weight }) => {
      if (holds.get({ phrase, id })) held += weight;
      return held >= needed;
    });
  };
}

/** The words that are not common, rarest first. */
function tellingMost(database: DatabaseSync, words: readonly string[]): WeightedWord[] {
  const newest = Number(database.prepare("SELECT max(id) AS id FROM entries").get()?.id);
  const common = Math.max(FEW, Math.floor(newest / COMMON_SHARE));
  const select = database.prepare(
    "SELECT count(*) AS count FROM (SELECT 1 FROM words WHERE words MATCH :phrase LIMIT :most)",
  );
  const counted = words
    .map(phrase)
    .map((phrase) => ({ phrase, count: Number(select.get({ phrase, most: common + 1 })?.count) }))
    .sort((a, b) => a.count - b.count);
  const rare = counted.filter(({ count }) => count <= common);
  // If all words are common, keep the rarest.
  const telling = rare.some(({ count }) => count > 0) ? rare : counted.filter(({ count }) => count > 0).slice(0, 1);
  const entries = Math.max(newest, ENTRIES_THAT_TELL);
  // A word without entries weighs as much as a word of one entry.
  const weightOf = (count: number) => Math.log(1 + (entries - count + 0.5) / (count + 0.5));
  return telling.map(({ phrase, count }) => ({ phrase, weight: weightOf(Math.max(1, count)), isKnown: count > 0 }));
}

/** All vectors have length 1, so the dot product is the cosine. */
function near(
  database: DatabaseSync,
  { model, vector, least, conversation, directory }: MemoryQuery & { type: "near" },
): number[] {
  const select = database.prepare("SELECT entry, vector FROM vectors WHERE model = ? ORDER BY entry DESC", {
    returnArrays: true,
  });
  const until = performance.now() + COMPARING;
  const similar: { readonly id: number; readonly cosine: number }[] = [];
  let compared = 0;
  for (const row of select.iterate(model) as Iterable<unknown>) {
    const [id, { buffer, byteOffset, byteLength }] = row as readonly [number, Uint8Array];
    // A changed model behind the same name may give vectors of another length.
    if (byteLength !== vector.byteLength) continue;
    const cosine = product(vector, new Float32Array(buffer, byteOffset, vector.length));
    if (cosine >= least) similar.push({ id, cosine });
    if (++compared % 1000 === 0 && performance.now() > until) break;
  }
  similar.sort((a, b) => b.cosine - a.cosine || b.id - a.id);
  const isRecallable = database.prepare(`SELECT 1 WHERE ${recallable(":entry")}`);
  const ids: number[] = [];
  for (const { id } of similar) {
    if (isRecallable.get({ entry: id, conversation, directory }) && ids.push(id) === CANDIDATES) break;
  }
  return ids;
}

function product(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += (a[index] as number) * (b[index] as number);
  return sum;
}

function findAll(database: DatabaseSync, words: readonly string[], limit: number): number[] {
  if (words.length === 0) return [];
  const select = database.prepare("SELECT rowid AS id FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?");
  return select.all(words.map(phrase).join(" "), limit).map(({ id }) => Number(id));
}
