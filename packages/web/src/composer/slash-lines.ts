import {
  type ActionUser,
  argumentsFor,
  mayBePrompt,
  offeredActions,
  readLine,
  refuseArguments,
} from "@banyan/client/actions";
import { slashIn } from "@banyan/client/words";
import type { PaletteAction } from "../parts/page/actions.tsx";
import { say as inWords, t } from "../parts/phrases/phrases.ts";
import type { PagePrompts, PromptRequest, ServerPrompt } from "./server-prompts.ts";

// Reads lines that begin with a slash. This module loads after the first view of the page.

export interface SlashCommand {
  readonly name: string;
  /** All names of the command, with their slashes. */
  readonly words: readonly string[];
  readonly does: string;
}

/**
 * Returns the prompts that can be called by name. If a command has the same name, it takes precedence, unless it allows
 * prompts to replace it.
 */
export function offeredPrompts(brought: PagePrompts): readonly ServerPrompt[] {
  return brought?.prompts.filter(({ name }) => mayBePrompt(`/${name}`)) ?? [];
}

/**
 * Returns the prompt that a text calls. While the page does not know the prompts of MCP servers, the server must look
 * it up.
 */
export function promptIn(text: string, brought: PagePrompts): PromptRequest | undefined {
  const { name: word = "", argument = "" } = slashIn(text) ?? {};
  const prompt = word.toLowerCase();
  const request = { prompt, argument };
  if (offeredPrompts(brought).some(({ name }) => name === prompt)) return request;
  const mayCome = brought === undefined || brought.starting.length > 0;
  return mayCome && /.:./.test(prompt) ? request : undefined;
}

/** Returns the slash commands of the offered actions. */
export function slashCommands(written: readonly PaletteAction[], user: ActionUser): readonly SlashCommand[] {
  return offeredActions(user).flatMap((action) => {
    const { name, aliases = [], help } = action;
    if (!written.some(({ slash }) => slash === name)) return [];
    const hint = argumentsFor(action, user);
    const does = hint === undefined ? inWords(help) : `${inWords(help)} ${inWords(hint)}`;
    return [{ name: `/${name}`, words: [name, ...aliases].map((word) => `/${word}`), does }];
  });
}

/** Returns the function of a command line; `undefined` for text or a prompt. Throws an error for an unknown command. */
export function slashAct(
  line: string,
  written: readonly PaletteAction[],
  user: ActionUser & { readonly prompts: readonly string[] },
): (() => unknown) | undefined {
  const read = readLine(line, { ...user, say: inWords });
  if (read.type !== "action") return undefined;
  const { action, argument } = read;
  const act = written.find(({ slash }) => slash === action.name);
  if (act) {
    refuseArguments(action, argument, { ...user, say: inWords });
    return () => act.run(argument);
  }
  const { onPage } = action;
  if (onPage !== undefined) return () => inWords(onPage);
  throw new Error(
    t("/{name} can't be used yet: there are no messages.", {
      name: action.name,
    }),
  );
}
