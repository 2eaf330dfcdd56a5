/** Values for the `{name}` places of a phrase. */
export type PhraseValues = Readonly<Record<string, string | number>>;

/**
 * Translates a phrase into the reader's language. A phrase is its complete English text, as written in the code, so
 * that translations can be checked against all phrases. Without a translator, English is used, as in terminals; the
 * page passes its own.
 * @example
 * const inCapitals: Say = Object.assign((phrase: string) => phrase.toUpperCase(), { count: (n: number) => `${n}` });
 * formatCost(undefined, inCapitals); // UNKNOWN
 */
export interface Say {
  (phrase: string, values?: PhraseValues): string;
  /** Translates a phrase with a count, which replaces `{count}`. `one` and `many` are the English forms. */
  count(count: number, one: string, many: string, values?: PhraseValues): string;
}

/** The English phrases, unchanged. */
export const inEnglish: Say = Object.assign(fillPlaceholders, {
  count(count: number, one: string, many: string, values?: PhraseValues): string {
    return fillPlaceholders(count === 1 ? one : many, { ...values, count });
  },
});

/** Fills in the values of a phrase, numbers as `1,234`. Places without a value stay. */
function fillPlaceholders(phrase: string, values?: PhraseValues): string {
  if (values === undefined) return phrase;
  return phrase.replaceAll(/\{(\w+)\}/g, (place, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined) return place;
    return typeof value === "number" ? value.toLocaleString("en-US") : value;
  });
}
