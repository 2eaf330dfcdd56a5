import type { PhraseValues, Say } from "@banyan/core/shown";
import Tannin from "tannin";
import { keepValue, keptValue } from "../browser/kept-value.ts";

/** The languages of the page by their own names (W77). English is in the code; every other language has a file. */
export const LANGUAGES = { en: "English", de: "Deutsch", zh: "中文", ar: "العربية" } as const;

export type PageLanguage = keyof typeof LANGUAGES;

/** Phrases by their English text: a translation, or one translation per plural form. */
type File = Readonly<Record<string, string | readonly string[] | { readonly plural_forms: string }>>;

const FILES: Readonly<Record<Exclude<PageLanguage, "en">, () => Promise<{ readonly default: File }>>> = {
  de: () => import("./de.json"),
  zh: () => import("./zh.json"),
  ar: () => import("./ar.json"),
};

const KEY = "language";

/** The language of the page, until it reloads. */
export const language: PageLanguage = languageWanted();

/** The locale for dates and numbers: the page's language, in the variant of the user's region. */
export const locale: string = preferred().find((each) => isLanguageTag(each, language)) ?? language;

const isRightToLeft = language === "ar";

/** The arrow keys for back and forward, which depend on the reading direction. */
export const ARROWS = isRightToLeft
  ? ({ back: "ArrowRight", on: "ArrowLeft" } as const)
  : ({ back: "ArrowLeft", on: "ArrowRight" } as const);

/** The package's types describe another module format than the one that Node loads. */
const Translations = Tannin as unknown as new (
  data: object,
) => {
  dcnpgettext(domain: string, context: string | undefined, one: string, many?: string, count?: number): string;
};

const ENGLISH = { plural_forms: "nplurals=2; plural=n!=1" };

// Importing this module waits for the file, so that phrases evaluated while a module loads are translated, too.
const phrases = await phrasesOf(language);

const numbers = new Intl.NumberFormat(locale);

/** Reloads the page in another language; `undefined` follows the browser. */
export function setLanguage(wanted: PageLanguage | undefined): void {
  keepValue(KEY, wanted);
  window.location.reload();
}

/** Returns the language that the user chose; `undefined` if the page follows the browser. */
export function chosenLanguage(): PageLanguage | undefined {
  const chosen = keptValue(KEY);
  return typeof chosen === "string" && Object.hasOwn(LANGUAGES, chosen) ? (chosen as PageLanguage) : undefined;
}

export function applyLanguage(root: HTMLElement): void {
  root.lang = language;
  root.dir = isRightToLeft ? "rtl" : "ltr";
}

/** Translates a phrase. `phrase` is the whole English text as a literal, because a test reads it from the code. */
export function t(phrase: string, values?: PhraseValues): string {
  return fillPhrase(phrases.gettext(phrase), values);
}

/** Translates a phrase with a number, which replaces `{count}`. `one` and `many` are the English forms. */
export function tCount(count: number, one: string, many: string, values?: PhraseValues): string {
  return fillPhrase(phrases.ngettext(one, many, count), { ...values, count });
}

/** Returns a phrase with the number of open questions: for this user, or for others if the user may not answer. */
export function waitingInWords(count: number, isForYou: boolean): string {
  return isForYou
    ? tCount(count, "{count} waiting for you", "{count} waiting for you")
    : tCount(count, "{count} waiting", "{count} waiting");
}

/** Translates the engine's sentences. */
export const say: Say = Object.assign(
  (phrase: string, values?: PhraseValues) => fillPhrase(phrases.gettext(phrase), values),
  { count: tCount },
);

/** Removes a leading name from a sentence, for places that show the name already. */
export function withoutName(name: string, sentence: string): string {
  return sentence.startsWith(`${name} `) ? sentence.slice(name.length + 1) : sentence;
}

/** Formats a time for the user's locale, for example `Monday, 3 May, 14:05`. */
export function formatPageTime(at: number, style: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat(locale, style).format(at);
}

function fillPhrase(phrase: string, values: PhraseValues | undefined): string {
  if (!values) return phrase;
  return phrase.replaceAll(/\{(\w+)\}/g, (place, name: string) => {
    const value = values[name];
    if (value === undefined) return place;
    if (typeof value === "number") return numbers.format(value);
    // Isolate inserted text, so that its direction does not change the text around it.
    return isRightToLeft ? `\u2068${value}\u2069` : value;
  });
}

function languageWanted(): PageLanguage {
  const all = Object.keys(LANGUAGES) as PageLanguage[];
  const first = preferred().flatMap((each) => all.find((known) => isLanguageTag(each, known)) ?? [])[0];
  return chosenLanguage() ?? first ?? "en";
}

function preferred(): readonly string[] {
  return typeof window === "undefined" ? ["en"] : navigator.languages;
}

function isLanguageTag(tag: string, wanted: PageLanguage): boolean {
  return tag.toLowerCase().split("-", 1)[0] === wanted;
}

async function phrasesOf(wanted: PageLanguage) {
  const { "": rules = ENGLISH, ...file } = wanted === "en" ? {} : await loadPhrases(wanted);
  const forms = Object.entries(file).map(([phrase, said]) => [phrase, typeof said === "string" ? [said] : said]);
  const tannin = new Translations({ page: { "": rules, ...Object.fromEntries(forms) } });
  return {
    gettext: (phrase: string) => tannin.dcnpgettext("page", undefined, phrase),
    ngettext: (one: string, many: string, count: number) => tannin.dcnpgettext("page", undefined, one, many, count),
  };
}

async function loadPhrases(wanted: Exclude<PageLanguage, "en">): Promise<File> {
  try {
    return (await FILES[wanted]()).default;
  } catch {
    // On a bad network, English is better than no page.
    return {};
  }
}
