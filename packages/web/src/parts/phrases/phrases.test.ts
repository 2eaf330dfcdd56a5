import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readProse } from "../../../../../scripts/house/plain-prose.ts";
import { LANGUAGES, t, tCount } from "./phrases.ts";
import { type PhraseInCode, saidIn, saidInPage } from "./phrases-in-code.fixture.ts";

type Forms = string | readonly string[];

const FILES = Object.keys(LANGUAGES).filter((language) => language !== "en");

/** Texts in the code that need no translation, by file and beginning. */
const NO_PHRASES: Readonly<Record<string, RegExp>> = {
  "panels/artifact-panel.tsx": /^<!doctype html>/,
  "transcript/artifacts/diagram-frame.ts": /./,
  "transcript/artifacts/diagram.tsx": /^mermaid$/,
  "parts/code/highlight.ts": /./,
  "parts/code/languages.ts": /./,
  // The demo's rules know only English.
  "composer/examples-for.ts": /^(list the files|search for|create notes|what can you do)/,
  "parts/connection/browser-link.ts": /^banyan page$/,
  "app/conversations/conversation-list.tsx": /^Banyan$/,
  "app/palette/shortcut-list.tsx": /^↑ ↓ Home End$/,
  "panels/own-things.tsx": /^provider\/model:effort$/,
  // `tParts` passes on its phrase.
  "parts/phrases/parts.tsx": /./,
  "parts/browser/offline.ts": /^<!doctype html>/,
  // A selector, and a part of rules.
  "transcript/approval.tsx": /^(fieldset\[|\[harmless\]$)/,
  "transcript/markdown/safe-html.ts": /^sub sup/,
};

const { phrases, others } = saidInPage();
const inCode = new Map<string, PhraseInCode>(phrases.map((said) => [said.phrase, said]));

function fileOf(language: string): { readonly forms: number; readonly said: Readonly<Record<string, Forms>> } {
  const { "": rules, ...said } = JSON.parse(readFileSync(new URL(`${language}.json`, import.meta.url), "utf8"));
  return { forms: Number(/^nplurals=(\d);/.exec(rules.plural_forms)?.[1]), said };
}

/** Phrases that the count takes for riddles, but that are clear. */
const PLAIN: readonly string[] = [
  "Next version of this message, {place} of {all}",
  "Previous version of this message, {place} of {all}",
  // The terminal also shows this sentence, and defines it.
  "Answer cut off, asking again. The text above is discarded.",
];

const SAID = Object.fromEntries(FILES.map((language) => [language, fileOf(language).said]));

/** A phrase without placeholders, slash commands and arguments, which are equal in all languages. */
const bare = (phrase: string) => phrase.replaceAll(/\{\w+\}|\/\w+|\[[^\]]*\]/g, "");

/** The table of docs/glossary.md. */
const GLOSSARY = readFileSync(new URL("../../../../../docs/glossary.md", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| "))
  .slice(1)
  .map((line) => line.split("|").map((cell) => cell.trim()))
  .map(([, word = "", , de = "", zh = "", ar = "", not = ""]) => ({
    word,
    forms: { de: de.split(", "), zh: zh.split(", "), ar: ar.split(", ") },
    not: not === "" ? [] : not.split(", "),
  }));

/** Phrases in which a word of the glossary is part of a name, or has another meaning. */
const OTHER_SENSE: Readonly<Record<string, readonly string[]>> = {
  agent: ["Create AGENTS.md"],
  turn: ["Memory is off. Turn it on with /memory in a terminal."],
  provider: ["No matching model. To use another model, enter its full name, such as provider/model."],
  remove: ["Write /worktrees remove and the name of a worktree. Add “with changes” to delete its changes too."],
};

const placesIn = (phrase: string) => [...phrase.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name).sort();

describe("the phrases of the page", () => {
  it("W77: no words stand in its code that are in no file", () => {
    expect(phrases.length).toBeGreaterThan(400);
    const isKnown = (place: string) => {
      const [, file = "", words = ""] = /^([^:]+):\d+ ([\s\S]*)$/.exec(place) ?? [];
      return NO_PHRASES[file]?.test(words) ?? false;
    };
    expect(others.filter((place) => !isKnown(place))).toEqual([]);
  });

  it("W77: words without a file are found, wherever they stand", () => {
    const code = `
      const a = <p title="Other words">Some words {x}</p>;
      const b = { name: "A name of it", text: \`It has \${n} of them\` };
      const c = <Button isMain>{isOn ? "Go there" : t("Known", { n })}</Button>;
      const d = t(phrase);
      throw new Error("for programmers alone", { cause: t("Shown {what}", { what: "some more words" }) });`;
    const { phrases: found, others: lost } = saidIn("a.tsx", code);
    expect(found.map(({ phrase }) => phrase).sort()).toEqual(["Known", "Shown {what}"]);
    expect(lost.map((each) => each.replace(/^a\.tsx:\d+ /, "")).sort()).toEqual([
      "A name of it",
      "A phrase stands in the code as a string, whole.",
      "Go there",
      "It has {} of them",
      "Other words",
      "Some words",
    ]);
  });

  it.for(FILES)(
    "W77: each phrase has a translation in %s, with its placeholders and all plural forms, and there is no other",
    (language) => {
      const { forms, said } = fileOf(language);
      expect(Object.keys(said).sort()).toEqual([...inCode.keys()].sort());
      for (const [phrase, is] of Object.entries(said)) {
        const { many } = inCode.get(phrase) ?? {};
        expect([typeof is === "string" ? 1 : is.length, phrase]).toEqual([many === undefined ? 1 : forms, phrase]);
        const wanted = placesIn(many ?? phrase);
        for (const form of [is].flat()) {
          const places = placesIn(form);
          expect(form.trim()).not.toBe("");
          // A plural form may contain the number as a word, and the form for zero may omit other placeholders.
          if (many === undefined) expect([phrase, places]).toEqual([phrase, wanted]);
          else expect([phrase, places.filter((place) => !wanted.includes(place))]).toEqual([phrase, []]);
        }
        if (many !== undefined) expect([phrase, placesIn([is].flat().at(-1) ?? "")]).toEqual([phrase, wanted]);
      }
    },
  );

  it("W105: all phrases of a language use the glossary's word, and no other word for the same thing", () => {
    expect(GLOSSARY.length).toBeGreaterThanOrEqual(40);
    const faults: string[] = [];
    for (const { word, forms, not } of GLOSSARY) {
      const names = new RegExp(`\\b${word.replace(/s$/, "")}s?\\b`, "i");
      for (const phrase of [...inCode.keys()].filter((each) => names.test(bare(each)))) {
        for (const [language, wanted] of Object.entries(forms)) {
          const said = [SAID[language]?.[phrase] ?? ""].flat().at(-1) ?? "";
          const isOther = OTHER_SENSE[word]?.includes(phrase) ?? false;
          if (!isOther && !wanted.some((form) => said.toLowerCase().includes(form.toLowerCase())))
            faults.push(`${word}, ${language}: ${phrase} | ${said}`);
        }
      }
      const others = not.map((each) => new RegExp(`\\b${each}\\b`, "i"));
      const other = [...inCode.keys()].filter((phrase) => others.some((each) => each.test(bare(phrase))));
      faults.push(...other.map((phrase) => `not ${word}: ${phrase}`));
    }
    expect(faults).toEqual([]);
  });

  it("W105: no phrase begins with a relative clause, and none is a third pronouns", () => {
    const all = phrases.flatMap(({ phrase, many }) => [phrase, ...(many === undefined ? [] : [many])]);
    const riddles = [...new Set(all)].filter((phrase) => {
      const { clauseFirst, pointing } = readProse(phrase);
      return clauseFirst.length + pointing.length > 0;
    });
    expect(riddles.filter((phrase) => !PLAIN.includes(phrase))).toEqual([]);
    expect(readProse("What was said before is told to those who stand beside it.").clauseFirst).toHaveLength(1);
  });

  it("W77: English is what stands in the code, with its numbers as they are written", () => {
    expect(t("Change {path}?", { path: "src/sum.ts" })).toBe("Change src/sum.ts?");
    expect([1, 2, 1_200].map((count) => tCount(count, "{count} file", "{count} files"))).toEqual([
      "1 file",
      "2 files",
      "1,200 files",
    ]);
  });
});
