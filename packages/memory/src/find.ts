import type { DatabaseSync } from "node:sqlite";
import { phrase } from "./words.ts";

/** Something to be looked for. The answer is ids of entries, best first. */
export type Question =
  /** What may say something about these words, for a conversation that it is not from itself. */
  | ({ readonly type: "about"; readonly words: readonly string[] } & Here)
  /** What is near in meaning, at least as near as `least`. */
  | ({
      readonly type: "near";
      readonly model: string;
      readonly vector: Float32Array;
      readonly least: number;
    } & Here)
  /** What holds all of the words. */
  | { readonly type: "all"; readonly words: readonly string[]; readonly limit: number };

/** Where a recall is asked for. */
export interface Here {
  readonly conversation: string;
  readonly directory: string;
}

/** Candidates of each kind for a recall. */
const CANDIDATES = 50;
/** The words by which candidates are found: the rarest. */
const WORDS = 12;
/**
 * What fits a question holds this share of what its rarest words tell, which are no more than this: of four words that are
 * equally rare, one is enough, of five it is not.
 */
const TOLD_SHARE = 0.23;
const TOLD_WORDS = 8;
/** A smaller memory tells little about how rare a word is: there, each word counts nearly alike. */
const ENTRIES_THAT_TELL = 1000;
/** A word is common that is in more than one of eight entries, and in more than twenty. */
const COMMON_SHARE = 8;
const FEW = 20;
/** Milliseconds for comparing vectors, the newest first; on two cores, some 200,000 of 1,536 numbers. */
const COMPARING = 1500;

/** Looks a question up. Throws as SQLite does. */
export function find(database: DatabaseSync, question: Question): number[] {
  switch (question.type) {
    case "about":
      return about(database, question.words, question);
    case "near":
      return near(database, question);
    case "all":
      return all(database, question.words, question.limit);
  }
}

/**
 * SQL: whether an entry is from a conversation for which memory is on, and not from the one that it is recalled into. What was
 * said in another directory is about something else; a model would take an old request for one of now (B81).
 */
function recallable(entry: string): string {
  return `EXISTS (SELECT 1 FROM sources WHERE entry = ${entry} AND conversation NOT IN (SELECT conversation FROM off)
      AND (directory = :directory OR 'said' <> (SELECT kind FROM entries WHERE id = ${entry})))
    AND NOT EXISTS (SELECT 1 FROM sources WHERE entry = ${entry} AND conversation = nullif(:conversation, ''))`;
}

/** A word of a question, and how much it tells: the more, the fewer entries hold it. */
interface TellingWord {
  readonly phrase: string;
  readonly weight: number;
  /** Whether any entry holds it. */
  readonly isKnown: boolean;
}

/**
 * BM25 by the rarest words alone: the common ones cost most of the time, and what has nothing else in common with the
 * query does not fit it. Neither does what shares a word with it by chance, and lacks most of what it is about.
 */
function about(database: DatabaseSync, words: readonly string[], { conversation, directory }: Here): number[] {
  const telling = tellingMost(database, words);
  const known = telling.filter(({ isKnown }) => isKnown).slice(0, WORDS);
  if (known.length === 0) return [];
  // The rows come in the order of their rank, and are looked at until there are enough.
  const select = database.prepare(
    `SELECT rowid AS id, rank FROM words WHERE words MATCH :phrases AND ${recallable("words.rowid")}
    ORDER BY rank LIMIT ${CANDIDATES}`,
  );
  const found = select.all({ conversation, directory, phrases: known.map(({ phrase }) => phrase).join(" OR ") });
  const fits = fitting(database, telling, known);
  return found
    .map(({ id, rank }) => ({ id: Number(id), rank: Number(rank) }))
    .filter(({ id }) => fits(id))
    .sort((a, b) => a.rank - b.rank || b.id - a.id)
    .map(({ id }) => id);
}

/** Whether an entry holds enough of what a question is about. What no entry knows of is a part of that too. */
function fitting(database: DatabaseSync, telling: readonly TellingWord[], known: readonly TellingWord[]) {
  const needed = TOLD_SHARE * telling.slice(0, TOLD_WORDS).reduce((sum, { weight }) => sum + weight, 0);
  // Numbers are bound as floating-point ones, which FTS5 does not look up.
  const holds = database.prepare("SELECT 1 FROM words WHERE words MATCH :phrase AND rowid = CAST(:id AS INTEGER)");
  return (id: number) => {
    let held = 0;
    return known.some(({ phrase, weight }) => {
      if (holds.get({ phrase, id })) held += weight;
      return held >= needed;
    });
  };
}

/** The words that are not common, those that tell most first. */
function tellingMost(database: DatabaseSync, words: readonly string[]): TellingWord[] {
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
  // Of words that are all common, the rarest still tells something.
  const telling = rare.some(({ count }) => count > 0) ? rare : counted.filter(({ count }) => count > 0).slice(0, 1);
  const entries = Math.max(newest, ENTRIES_THAT_TELL);
  // The weight of a word in BM25; one that no entry holds is as rare as one that a single entry holds.
  const weightOf = (count: number) => Math.log(1 + (entries - count + 0.5) / (count + 0.5));
  return telling.map(({ phrase, count }) => ({ phrase, weight: weightOf(Math.max(1, count)), isKnown: count > 0 }));
}

/** One pass over the vectors. Both sides are of length 1, so that the cosine is the sum of the products. */
function near(
  database: DatabaseSync,
  { model, vector, least, conversation, directory }: Question & { type: "near" },
): number[] {
  const select = database.prepare("SELECT entry, vector FROM vectors WHERE model = ? ORDER BY entry DESC", {
    returnArrays: true,
  });
  const until = performance.now() + COMPARING;
  const similar: { readonly id: number; readonly cosine: number }[] = [];
  let compared = 0;
  for (const row of select.iterate(model) as Iterable<unknown>) {
    const [id, { buffer, byteOffset, byteLength }] = row as readonly [number, Uint8Array];
    // A model may have been changed behind its name.
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

function all(database: DatabaseSync, words: readonly string[], limit: number): number[] {
  if (words.length === 0) return [];
  const select = database.prepare("SELECT rowid AS id FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?");
  return select.all(words.map(phrase).join(" "), limit).map(({ id }) => Number(id));
}
