/** Values for the placeholders of a phrase, such as `{count}`. See {@link inEnglish}. */
export type PhraseValues = Readonly<Record<string, string | number>>;

/**
 * Translates a phrase into the reader's language. The key is the complete English text as it stands in the code, so a
 * test can find every phrase. Terminals use English; the page passes its own translator.
 * @example
 * const inCapitals: Say = Object.assign((phrase: string) => phrase.toUpperCase(), { count: (n: number) => `${n}` });
 * formatCost(undefined, inCapitals); // UNKNOWN
 */
export interface Say {
  (phrase: string, values?: PhraseValues): string;
  /** Translates a phrase with a count, which replaces `{count}`. `one` and `many` are the English forms. */
  count(count: number, one: string, many: string, values?: PhraseValues): string;
}

/**
 * Returns each phrase in English, with its values filled in.
 * @example inEnglish("Saved {name}", { name: "a.txt" }) // "Saved a.txt"
 */
export const inEnglish: Say = Object.assign(fillPlaceholders, {
  count(count: number, one: string, many: string, values?: PhraseValues): string {
    return fillPlaceholders(count === 1 ? one : many, { ...values, count });
  },
});

/** Numbers are written as `1,234`. Placeholders without a value stay. */
function fillPlaceholders(phrase: string, values?: PhraseValues): string {
  if (values === undefined) return phrase;
  return phrase.replaceAll(/\{(\w+)\}/g, (place, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined) return place;
    return typeof value === "number" ? value.toLocaleString("en-US") : value;
  });
}
