import { useEffect, useState } from "react";
import { usePage } from "../page.ts";
import { t } from "../phrases/phrases.ts";
import type { SlashCommand, SlashCommands } from "./commands.ts";
import { type OwnPrompt, useOwnPrompts } from "./own.ts";

/** Something that the word before the caret can become. */
export interface Suggestion {
  /** What stands in the message box then. One that ends with a slash can be completed further. */
  readonly text: string;
  readonly label: string;
  readonly does?: string;
  /** A prompt of one's own, whose fields are asked for first. */
  readonly prompt?: OwnPrompt;
}

/** What a word can become, the best first. */
export interface Suggestions {
  readonly kind: "Commands" | "Files" | "Pages";
  readonly options: readonly Suggestion[];
  /** Enter takes nothing until an arrow has chosen it: the word is whole as it stands. */
  readonly isMerelyOffered?: boolean;
}

/** Characters of a prompt that are seen before it is taken. */
const SEEN = 80;

/** Files that are listed at the most. */
const MOST_FILES = 12;

/** The word that ends at the caret; behind `@"`, it may hold blanks. */
export function wordBefore(caret: number, text: string): string {
  return /(?:^|\s)(@"[^"]*|\S*)$/.exec(text.slice(0, caret))?.[1] ?? "";
}

/** What the word can become: a command where it is all that is written, a file behind `@`, a page for an address (W43). */
export function useSuggestions(word: string, text: string, commands: SlashCommands): Suggestions {
  const asked = /^@"?(?!https?:)/.exec(word)?.[0];
  const [prompts] = useOwnPrompts();
  const files = useFiles(asked === undefined ? undefined : word.slice(asked.length));
  if (asked !== undefined) {
    const options = files.map((path) => ({ text: /\s/.test(path) ? `@"${path}"` : `@${path}`, label: path }));
    return { kind: "Files", options };
  }
  if (/^https?:\/\/\S+\.\S/.test(word)) {
    const page = { text: `@${word}`, label: `@${word}`, does: t("The page goes along with the message") };
    return { kind: "Pages", options: [page], isMerelyOffered: true };
  }
  if (!word.startsWith("/") || word !== text) return { kind: "Commands", options: [] };
  const own = prompts
    .filter(({ name }) => `/${name}`.startsWith(word.toLowerCase()))
    .map((prompt) => ({ text: prompt.text, label: `/${prompt.name}`, does: prompt.text.slice(0, SEEN), prompt }));
  const fitting = beginning(word, commands.all());
  return {
    kind: "Commands",
    options: [...own, ...fitting.map(({ name, does }) => ({ text: name, label: name, does }))],
  };
}

/** The commands that begin so, under whatever name; none where the word is one of them as it stands. */
function beginning(word: string, all: readonly SlashCommand[]): readonly SlashCommand[] {
  const found = all.filter(({ words }) => words.some((each) => each.startsWith(word)));
  return found.some(({ words }) => words.includes(word)) ? [] : found;
}

/** The files and folders of the workspace that fit, as the server finds them. */
function useFiles(query: string | undefined): readonly string[] {
  const { connection } = usePage();
  const [found, setFound] = useState<readonly string[]>([]);
  useEffect(() => {
    let isWanted = true;
    if (query === undefined) setFound([]);
    else
      connection.ask("file.find", { query, limit: MOST_FILES }).then(
        ({ files }) => {
          if (isWanted) setFound(files);
        },
        () => {
          // Without the server, the name is written by hand.
        },
      );
    return () => {
      isWanted = false;
    };
  }, [connection, query]);
  return found;
}
