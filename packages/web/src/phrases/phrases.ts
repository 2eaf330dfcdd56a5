import type { PhraseValues, Say } from "@banyan/core/shown";
import Tannin from "tannin";
import { keep, kept } from "../shell/kept.ts";

/** The languages of the page, each by what it calls itself (W77). English stands in the code; each other one has a file. */
export const LANGUAGES = { en: "English", de: "Deutsch", zh: "中文", ar: "العربية" } as const;

/** A language of the page. */
export type Language = keyof typeof LANGUAGES;

/** A phrase by its English: as it is in another language, or, where it counts something, once for each form of the plural. */
type File = Readonly<Record<string, string | readonly string[] | { readonly plural_forms: string }>>;

const FILES: Readonly<Record<Exclude<Language, "en">, () => Promise<{ readonly default: File }>>> = {
  de: () => import("./de.json"),
  zh: () => import("./zh.json"),
  ar: () => import("./ar.json"),
};

const KEY = "language";

/** The language that the page is in, until it is loaded anew. */
export const language: Language = languageWanted();

/** What the browser writes dates and numbers by: the language, as it is written where the person is. */
export const locale: string = preferred().find((each) => isIn(each, language)) ?? language;

const isRightToLeft = language === "ar";

/** The arrow keys that lead back and on, as one reads. */
export const ARROWS = isRightToLeft
  ? ({ back: "ArrowRight", on: "ArrowLeft" } as const)
  : ({ back: "ArrowLeft", on: "ArrowRight" } as const);

/** Its types are those of another kind of module than the one that Node loads. */
const Translations = Tannin as unknown as new (
  data: object,
) => {
  dcnpgettext(domain: string, context: string | undefined, one: string, many?: string, count?: number): string;
};

const ENGLISH = { plural_forms: "nplurals=2; plural=n!=1" };

// Whoever imports this waits until the file is there: what a module says when it is loaded is in the language, too.
const phrases = await phrasesOf(language);

const numbers = new Intl.NumberFormat(locale);

/** Has the page be in a language from now on, or in the first one of the browser's that it has: it is loaded anew. */
export function speak(wanted: Language | undefined): void {
  keep(KEY, wanted);
  window.location.reload();
}

/** The language that a person chose; nothing when it follows the browser. */
export function chosenLanguage(): Language | undefined {
  const chosen = kept(KEY);
  return typeof chosen === "string" && Object.hasOwn(LANGUAGES, chosen) ? (chosen as Language) : undefined;
}

/** Tells the browser which language the page is in, and from which side it is read. */
export function applyLanguage(root: HTMLElement): void {
  root.lang = language;
  root.dir = isRightToLeft ? "rtl" : "ltr";
}

/** A phrase in the language of the page. `phrase` is its English, whole and as it stands in the code: a test looks for it. */
export function t(phrase: string, values?: PhraseValues): string {
  return filled(phrases.gettext(phrase), values);
}

/** A phrase that counts something, with the number in place of `{count}`: `one` and `many` are its English. */
export function tCount(count: number, one: string, many: string, values?: PhraseValues): string {
  return filled(phrases.ngettext(one, many, count), { ...values, count });
}

/** What the engine tells is said in the language of the page by this. */
export const say: Say = Object.assign(
  (phrase: string, values?: PhraseValues) => filled(phrases.gettext(phrase), values),
  { count: tCount },
);

/** What is told of something, such as why a provider cannot be used, where its name stands in front already. */
export function withoutName(name: string, told: string): string {
  return told.startsWith(`${name} `) ? told.slice(name.length + 1) : told;
}

/** As `Monday, 3 May, 14:05` is written where the person is. */
export function toldTime(at: number, style: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat(locale, style).format(at);
}

function filled(phrase: string, values: PhraseValues | undefined): string {
  if (!values) return phrase;
  return phrase.replaceAll(/\{(\w+)\}/g, (place, name: string) => {
    const value = values[name];
    if (value === undefined) return place;
    if (typeof value === "number") return numbers.format(value);
    // What is put in runs in its own direction, and turns nothing around that stands beside it.
    return isRightToLeft ? `\u2068${value}\u2069` : value;
  });
}

function languageWanted(): Language {
  const all = Object.keys(LANGUAGES) as Language[];
  const first = preferred().flatMap((each) => all.find((known) => isIn(each, known)) ?? [])[0];
  return chosenLanguage() ?? first ?? "en";
}

/** What the browser's languages are, the best first; English where there is no browser. */
function preferred(): readonly string[] {
  return typeof window === "undefined" ? ["en"] : navigator.languages;
}

function isIn(tag: string, wanted: Language): boolean {
  return tag.toLowerCase().split("-", 1)[0] === wanted;
}

async function phrasesOf(wanted: Language) {
  const { "": rules = ENGLISH, ...file } = wanted === "en" ? {} : await fileOf(wanted);
  const forms = Object.entries(file).map(([phrase, said]) => [phrase, typeof said === "string" ? [said] : said]);
  const tannin = new Translations({ page: { "": rules, ...Object.fromEntries(forms) } });
  return {
    gettext: (phrase: string) => tannin.dcnpgettext("page", undefined, phrase),
    ngettext: (one: string, many: string, count: number) => tannin.dcnpgettext("page", undefined, one, many, count),
  };
}

async function fileOf(wanted: Exclude<Language, "en">): Promise<File> {
  try {
    return (await FILES[wanted]()).default;
  } catch {
    // On a bad link the page is better in English than not at all.
    return {};
  }
}
