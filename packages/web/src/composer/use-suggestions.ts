import { referenceTo } from "@banyan/client/words";
import { visibleLine } from "@banyan/core/shown";
import { useServerAnswer } from "../parts/page/use-server-answer.ts";
import { t } from "../parts/phrases/phrases.ts";
import type { SlashCommands } from "./commands.ts";
import { type OwnPrompt, type PromptToFill, promptToFill, useOwnPrompts } from "./own.ts";
import { promptLine, type ServerPrompt } from "./server-prompts.ts";
import type { SlashCommand } from "./slash-lines.ts";

/** A completion of the word before the caret. */
export interface ComposerSuggestion {
  /** The word after completion. A word that ends with a slash can be completed further. */
  readonly text: string;
  readonly label: string;
  readonly does?: string;
  readonly prompt?: PromptToFill;
}

/** The completions of a word, the best first. */
export interface Suggestions {
  readonly kind: "Commands" | "Files" | "Pages";
  readonly options: readonly ComposerSuggestion[];
  /** True if the word is already complete. Enter then accepts a completion only after an arrow key. */
  readonly isMerelyOffered?: boolean;
}

const SEEN = 80;

const MOST_FILES = 12;

/** Returns the word that ends at the caret; after `@"`, it may contain spaces. */
export function wordBefore(caret: number, text: string): string {
  return /(?:^|\s)(@"[^"]*|\S*)$/.exec(text.slice(0, caret))?.[1] ?? "";
}

/** Returns the completions of a word: commands for a first word, files after `@`, a page for a URL (W43). */
export function useSuggestions(word: string, text: string, commands: SlashCommands): Suggestions {
  const opening = /^@"?(?!https?:)/.exec(word)?.[0];
  const [prompts] = useOwnPrompts();
  const files = useFiles(opening === undefined ? undefined : word.slice(opening.length));
  if (opening !== undefined) {
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
 * Returns the prompts and commands that start with the word, the user's own first. A complete command name hides all
 * other options, so that Enter runs the command; prompts with fields stay, because they must be filled in.
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
    readonly brought: readonly ServerPrompt[];
  },
): readonly ComposerSuggestion[] {
  const typed = word.toLowerCase();
  const ofOwn = own
    .filter(({ name }) => `/${name}`.startsWith(typed))
    .map((prompt) => ({
      text: prompt.text,
      label: `/${prompt.name}`,
      does: prompt.text.slice(0, SEEN),
      prompt: promptToFill(prompt),
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

function broughtSuggestion(prompt: ServerPrompt): ComposerSuggestion {
  const { name, description, hint, arguments: fields } = prompt;
  return {
    text: hint === undefined ? `/${name}` : `/${name} `,
    label: `/${name}`,
    does: hint === undefined ? description : `${description} ${hint}`,
    prompt: { name, fields, filled: (values) => promptLine(prompt, values) },
  };
}

function useFiles(query: string | undefined): readonly string[] {
  const input = query === undefined ? undefined : { query, limit: MOST_FILES };
  const { answer, isCurrent } = useServerAnswer("file.find", input);
  if (query === undefined || answer === undefined) return [];
  // Until the server answers, filter the previous list: Enter must accept only a match.
  return isCurrent ? answer.files : answer.files.filter((path) => path.toLowerCase().includes(query.toLowerCase()));
}
