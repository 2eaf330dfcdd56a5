import { isRootFolder, nearest, slashIn } from "@banyan/core/shown";
import { usePage } from "../page.ts";
import { type Action, useAllActions } from "../palette/actions.tsx";
import { SLASH_NAMES, SLASH_WORDS, type SlashCommandName, type SlashName, slashNamed } from "../palette/slash-names.ts";
import { t } from "../phrases/phrases.ts";
import { type AskedPrompt, type BroughtPrompt, offeredPrompts, promptIn, useBroughtPrompts } from "./brought.ts";

/** Something that is done by writing its name. */
export interface SlashCommand {
  /** Begins with a slash. */
  readonly name: string;
  /** All words that call for it, with their slashes. */
  readonly words: readonly string[];
  readonly does: string;
}

/** What can be done by writing its name where the page stands, and what does it (W43, W65). */
export interface SlashCommands {
  /** As they are when they are asked for, in the order of `/help`. */
  all(): readonly SlashCommand[];
  /** What files and MCP servers bring, without those that a command of the page stands before. */
  readonly prompts: readonly BroughtPrompt[];
  /** The prompt of those that a text asks for. */
  promptIn(text: string): AskedPrompt | undefined;
  /** Whether a text is one; then it is done. Throws why not when it looks like one, and is none or cannot be done here. */
  act(text: string): boolean;
}

/** The actions of the page that have a name to be written, and the prompts of the server, for what stands in the message box. */
export function useSlashCommands(text: string): SlashCommands {
  const page = usePage();
  const actions = useAllActions();
  const brought = useBroughtPrompts(text.startsWith("/"));
  const prompts = offeredPrompts(brought);
  return {
    all: () => slashCommands(actions()),
    prompts,
    promptIn: (said) => promptIn(said, brought),
    act(said) {
      const asked = slashIn(said);
      if (!asked) return false;
      const { name, argument } = asked;
      if (slashNamed(name) === undefined && isRootFolder(name)) return false;
      const act = slashAct(name, actions(), prompts);
      page.perform(() => act(argument));
      return true;
    },
  };
}

/** Those of the actions that are offered behind a slash. */
export function slashCommands(actions: readonly Action[]): readonly SlashCommand[] {
  return (Object.entries(SLASH_NAMES) as [SlashCommandName, SlashName][]).flatMap(([name, { also = [], takes }]) => {
    const action = actions.find(({ slash }) => slash === name);
    const does = takes === undefined ? action?.name : `${action?.name} ${takes}`;
    return action ? [{ name: `/${name}`, words: [name, ...also].map((word) => `/${word}`), does: does ?? "" }] : [];
  });
}

/** What a word calls for. Throws a sentence when it calls for nothing here. */
export function slashAct(
  word: string,
  actions: readonly Action[],
  prompts: readonly BroughtPrompt[] = [],
): (argument: string) => unknown {
  const name = slashNamed(word);
  if (name === undefined) {
    const near = nearest(word, [...SLASH_WORDS, ...prompts.map((prompt) => prompt.name)]).map((each) => `/${each}`);
    const advice =
      near.length > 0 ? t("Did you mean {near}?", { near: near.join(", ") }) : t("/help shows what there is.");
    throw new Error(
      t("There is no command /{word} here. {advice} To say it to the agent, begin it with a blank.", { word, advice }),
    );
  }
  const { elsewhere }: SlashName = SLASH_NAMES[name];
  if (elsewhere !== undefined) return () => elsewhere;
  const action = actions.find(({ slash }) => slash === name);
  if (action) return action.run;
  throw new Error(
    t(
      "/{word} has nothing to act on here: it may need a conversation in which something was said, or an agent that is done, or that works.",
      { word },
    ),
  );
}
