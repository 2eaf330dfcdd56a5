import { lineAt } from "../files/text-content.ts";

/** A place where the file's text differs from the model's text. One of the two pieces may be empty. */
export interface Difference {
  /** The start of the difference in the text, in UTF-16 units. */
  readonly at: number;
  readonly theirs: string;
  readonly yours: string;
}

const MOST_CHARACTERS = 1_000_000;
/** Maximum number of words to search in a text, and of places to compare for each word. */
const MOST_WORDS = 3;
const MOST_PLACES = 200;
/** The longest difference without blanks, and the number of equal characters that must follow. */
const LONGEST = 8;
const AGREEING = 4;

type Sides = readonly [theirs: number, yours: number];

const SIDES: readonly Sides[] = Array.from({ length: (LONGEST + 1) ** 2 - 1 }, (_, index): Sides => {
  return [Math.floor((index + 1) / (LONGEST + 1)), (index + 1) % (LONGEST + 1)];
}).sort((one, other) => Math.max(...one) - Math.max(...other) || gap(one) - gap(other));

const NAMES: ReadonlyMap<string, string> = new Map([
  ["\t", "tab"],
  ["\n", "line end"],
  ["\r", "carriage return"],
  [" ", "space"],
  ["\u00a0", "no-break space"],
  ["\u00ad", "soft hyphen"],
  ["\u2007", "figure space"],
  ["\u200b", "zero-width space"],
  ["\u200c", "zero-width non-joiner"],
  ["\u200d", "zero-width joiner"],
  ["\u202f", "narrow no-break space"],
  ["\u2060", "word joiner"],
  ["\u3000", "ideographic space"],
  ["\ufeff", "byte-order mark"],
]);

/**
 * Describes invisible differences between `wanted` and the most similar place (F81): "Line 3 has a no-break space
 * (U+00A0) where you wrote a space.". Undefined if no place is similar or all differences are visible.
 */
export function unseenDifference(text: string, wanted: string): string | undefined {
  if (text.length > MOST_CHARACTERS) return undefined;
  let best: readonly Difference[] | undefined;
  for (const [word, offset] of rarestWords(text, wanted)) {
    for (const place of findOccurrences(text, word, MOST_PLACES)) {
      const found = differencesAt(text, wanted, place, offset);
      if (found && (!best || weightOf(found) < weightOf(best))) best = found;
    }
  }
  return best && sentenceOn(text, 0, best);
}

/** Returns a sentence about the first invisible difference; undefined if all are visible. The differences begin at `from`. */
export function sentenceOn(text: string, from: number, differences: readonly Difference[]): string | undefined {
  const [first, ...others] = differences.filter(({ theirs, yours }) => !isSeen(theirs) || !isSeen(yours));
  if (first === undefined) return undefined;
  const more =
    others.length === 0 ? "" : `, and ${others.length} more such ${others.length === 1 ? "place" : "places"}`;
  return `Line ${lineAt(text, from + first.at)} has ${differenceText(first.theirs)} where you wrote ${differenceText(first.yours)}${more}.`;
}

/**
 * Returns the differences between `wanted` and the text around a place, which corresponds to `offset` in `wanted`.
 * Undefined if more than a third differs, or if no equal text follows a difference.
 */
function differencesAt(text: string, wanted: string, place: number, offset: number): readonly Difference[] | undefined {
  const most = 1 + wanted.length / 3;
  const before = differencesFrom({ text, wanted, at: place - 1, to: offset - 1, step: -1 }, most);
  const behind = before && differencesFrom({ text, wanted, at: place, to: offset, step: 1 }, most);
  if (!before || !behind) return undefined;
  const all = [...before.reverse(), ...behind];
  return weightOf(all) <= most ? all : undefined;
}

function differencesFrom(start: Comparison, most: number): Difference[] | undefined {
  const { text, wanted, step } = start;
  const differences: Difference[] = [];
  let { at, to } = start;
  while (to >= 0 && to < wanted.length) {
    if (text[at] === wanted[to]) {
      at += step;
      to += step;
      continue;
    }
    const sides = sidesOfDifference({ text, wanted, at, to, step });
    if (sides === undefined || differences.length > most) return undefined;
    const [theirs, yours] = sides;
    const [from, begin] = step === 1 ? [at, to] : [at - theirs + 1, to - yours + 1];
    differences.push({ at: from, theirs: text.slice(from, from + theirs), yours: wanted.slice(begin, begin + yours) });
    at += step * theirs;
    to += step * yours;
  }
  return differences;
}

function gap([theirs, yours]: Sides): number {
  return Math.abs(theirs - yours);
}

interface Comparison {
  readonly text: string;
  readonly wanted: string;
  readonly at: number;
  readonly to: number;
  readonly step: 1 | -1;
}

/** Returns the lengths of both sides of a difference: the shortest lengths after which both texts agree again. */
function sidesOfDifference(comparison: Comparison): Sides | undefined {
  const { text, wanted, at, to, step } = comparison;
  const blanks = [blanksFrom(text, at, step), blanksFrom(wanted, to, step)] as const;
  const candidates = blanks[0] + blanks[1] > 0 ? [blanks, ...SIDES] : SIDES;
  return candidates.find((sides) => agreesBehind(comparison, sides));
}

function agreesBehind({ text, wanted, at, to, step }: Comparison, [theirs, yours]: Sides): boolean {
  const left = (step === 1 ? wanted.length - to : to + 1) - yours;
  for (let count = 0; count < Math.min(AGREEING, left); count += 1)
    if (text[at + step * (theirs + count)] !== wanted[to + step * (yours + count)]) return false;
  return left >= 0;
}

function blanksFrom(text: string, place: number, step: 1 | -1): number {
  let count = 0;
  while (/^[^\S\n]$/.test(text[place + step * count] ?? "")) count += 1;
  return count;
}

function weightOf(differences: readonly Difference[]): number {
  return differences.reduce(
    (sum, { theirs, yours }) => sum + (/^\s*$/.test(theirs + yours) ? 1 : Math.max(theirs.length, yours.length)),
    0,
  );
}

/** Returns words of `wanted` that occur in the text, rarest first, with their offsets. Without words: letter pairs or letters. */
function rarestWords(text: string, wanted: string): readonly (readonly [word: string, offset: number])[] {
  for (const pattern of [/[\p{L}\p{N}_]{2,}/gu, /(?=(\S\S))/gu, /\S/gu]) {
    const offsets = new Map<string, number>();
    for (const { 0: word, 1: pair = word, index } of wanted.matchAll(pattern)) offsets.set(pair, index);
    const counted = [...offsets]
      .slice(0, MOST_PLACES)
      .map(([word, offset]) => ({ word, offset, count: findOccurrences(text, word, MOST_PLACES).length }))
      .filter(({ count }) => count > 0)
      .sort((one, other) => one.count - other.count || other.word.length - one.word.length);
    if (counted.length > 0) return counted.slice(0, MOST_WORDS).map(({ word, offset }) => [word, offset]);
  }
  return [];
}

/** Returns at most `most` places of `wanted` in a text, overlaps included. */
export function findOccurrences(text: string, wanted: string, most: number): readonly number[] {
  const places: number[] = [];
  for (let at = text.indexOf(wanted); at >= 0 && places.length < most; at = text.indexOf(wanted, at + 1))
    places.push(at);
  return places;
}

/** Returns whether all characters of a text are visible and unambiguous. */
function isSeen(text: string): boolean {
  return /^[!-~]*$/.test(text);
}

function differenceText(text: string): string {
  if (text === "") return "nothing";
  if (isSeen(text)) return `"${text}"`;
  const characters = Array.from(text.replaceAll("\r\n", "\n"));
  const [first = ""] = characters;
  if (characters.every((character) => character === first)) return countedCharacter(first, characters.length);
  const shown = characters.slice(0, LONGEST).map((character) => countedCharacter(character, 1));
  return characters.length > LONGEST ? `${shown.join(", ")}, ...` : shown.join(", ");
}

function countedCharacter(character: string, count: number): string {
  const name = NAMES.get(character);
  const code = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
  if (name !== undefined) {
    const article = /^[aeiou]/.test(name) ? "an" : "a";
    return `${count === 1 ? `${article} ${name}` : `${count} ${name}s`}${character < "\u0080" ? "" : ` (${code})`}`;
  }
  const shown = /^[\p{L}\p{N}\p{P}\p{S}]$/u.test(character)
    ? `"${character}"${isSeen(character) ? "" : ` (${code})`}`
    : code;
  return count === 1 ? shown : `${shown} ${count} times`;
}
