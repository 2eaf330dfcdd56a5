import { referenceTo, visibleLine } from "@banyan/core/shown";
import { useEffect, useState } from "react";
import { usePage } from "../page.ts";
import { t } from "../phrases/phrases.ts";
import { type BroughtPrompt, promptLine } from "./brought.ts";
import type { SlashCommand, SlashCommands } from "./commands.ts";
import { type OwnPrompt, ownToFill, type PromptToFill, useOwnPrompts } from "./own.ts";

/** Something that the word before the caret can become. */
export interface Suggestion {
  /** What stands in the message box then. One that ends with a slash can be completed further. */
  readonly text: string;
  readonly label: string;
  readonly does?: string;
  /** A prompt whose fields are asked for first. */
  readonly prompt?: PromptToFill;
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
    const options = files.map((path) => ({ text: referenceTo(path), label: visibleLine(path) }));
    return { kind: "Files", options };
  }
  if (/^https?:\/\/\S+\.\S/.test(word)) {
    const page = { text: `@${word}`, label: `@${word}`, does: t("Attach this page to the message") };
    return { kind: "Pages", options: [page], isMerelyOffered: true };
  }
  if (!word.startsWith("/") || word !== text) return { kind: "Commands", options: [] };
  return {
    kind: "Commands",
    options: commandsFor(word, { own: prompts, all: commands.all(), brought: commands.prompts }),
  };
}

/**
 * The prompts and commands that begin so, those of one's own first. Of others none where the word calls for one of them as it
 * stands, so that Enter has it done; but a prompt with fields, which are asked for then.
 */
export function commandsFor(
  word: string,
  {
    own,
    all,
    brought,
  }: {
    readonly own: readonly OwnPrompt[];
    readonly all: readonly SlashCommand[];
    readonly brought: readonly BroughtPrompt[];
  },
): readonly Suggestion[] {
  const typed = word.toLowerCase();
  const ofOwn = own
    .filter(({ name }) => `/${name}`.startsWith(typed))
    .map((prompt) => ({
      text: prompt.text,
      label: `/${prompt.name}`,
      does: prompt.text.slice(0, SEEN),
      prompt: ownToFill(prompt),
    }));
  const others = brought.filter(({ name }) => !own.some((prompt) => prompt.name === name));
  const whole = others.find(({ name }) => `/${name}` === typed);
  if (whole && whole.arguments.length > 0) return [...ofOwn, broughtSuggestion(whole)];
  if (whole || all.some(({ words }) => words.includes(word))) return ofOwn;
  const fitting = all.filter(({ words }) => words.some((each) => each.startsWith(word)));
  return [
    ...ofOwn,
    ...fitting
      .filter(({ name }) => !others.some((prompt) => `/${prompt.name}` === name))
      .map(({ name, does }) => ({ text: name, label: name, does })),
    ...others.filter(({ name }) => `/${name}`.startsWith(typed)).map(broughtSuggestion),
  ];
}

/** What has something behind its name is gone on with. */
function broughtSuggestion(prompt: BroughtPrompt): Suggestion {
  const { name, description, hint, arguments: fields } = prompt;
  return {
    text: hint === undefined ? `/${name}` : `/${name} `,
    label: `/${name}`,
    does: hint === undefined ? description : `${description} ${hint}`,
    prompt: { name, fields, filled: (values) => promptLine(prompt, values) },
  };
}

/** The files and folders of the workspace that fit, as the server finds them. */
function useFiles(query: string | undefined): readonly string[] {
  const { connection } = usePage();
  const [found, setFound] = useState<{ readonly query: string; readonly files: readonly string[] }>();
  useEffect(() => {
    let isWanted = true;
    if (query === undefined) setFound(undefined);
    else
      connection.ask("file.find", { query, limit: MOST_FILES }).then(
        ({ files }) => {
          if (isWanted) setFound({ query, files });
        },
        () => {
          // Without the server, the name is written by hand.
        },
      );
    return () => {
      isWanted = false;
    };
  }, [connection, query]);
  if (query === undefined || found === undefined) return [];
  // Until the server answers, those of the letters before: only what still fits may be taken with Enter.
  const isStale = found.query !== query;
  return isStale ? found.files.filter((path) => path.toLowerCase().includes(query.toLowerCase())) : found.files;
}
