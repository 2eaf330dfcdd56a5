/** What stands in the places of a phrase: `{name}`. */
export type PhraseValues = Readonly<Record<string, string | number>>;

/**
 * Says a phrase in the language of whoever reads it. A phrase is its English, whole and as it stands in the code, so that the
 * files of other languages can be held against all that is said. What tells a person something takes one, and says it in
 * English without: the terminals do; the page hands in its own.
 * @example
 * const inCapitals: Say = Object.assign((phrase: string) => phrase.toUpperCase(), { count: (n: number) => `${n}` });
 * formatCost(undefined, inCapitals); // UNKNOWN
 */
export interface Say {
  (phrase: string, values?: PhraseValues): string;
  /** A phrase that counts something, with the number in place of `{count}`: `one` and `many` are its English. */
  count(count: number, one: string, many: string, values?: PhraseValues): string;
}

/** In English, as it stands in the code. */
export const inEnglish: Say = Object.assign(filled, {
  count(count: number, one: string, many: string, values?: PhraseValues): string {
    return filled(count === 1 ? one : many, { ...values, count });
  },
});

/** A phrase with what stands in its places, numbers as `1,234`; a place that nothing is known of stays as it is. */
function filled(phrase: string, values?: PhraseValues): string {
  if (values === undefined) return phrase;
  return phrase.replaceAll(/\{(\w+)\}/g, (place, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined) return place;
    return typeof value === "number" ? value.toLocaleString("en-US") : value;
  });
}
