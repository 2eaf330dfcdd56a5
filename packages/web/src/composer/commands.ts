import { type ActionUser, argumentsFor, offeredActions, readLine, refuseArguments } from "@banyan/client/actions";
import { usePage, usePageState } from "../page.ts";
import { type Action, useAllActions } from "../palette/actions.tsx";
import { say as inWords, t } from "../phrases/phrases.ts";
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
  const user: ActionUser = { client: "page", rights: usePageState(({ rights }) => rights) };
  return {
    all: () => slashCommands(actions(), user),
    prompts,
    promptIn: (said) => promptIn(said, brought),
    act(said) {
      const act = slashAct(said, actions(), { ...user, prompts: prompts.map(({ name }) => name) });
      if (!act) return false;
      page.perform(act);
      return true;
    },
  };
}

/** Those of the actions that are offered behind a slash. */
export function slashCommands(written: readonly Action[], user: ActionUser): readonly SlashCommand[] {
  return offeredActions(user).flatMap((action) => {
    const { name, aliases = [], help } = action;
    if (!written.some(({ slash }) => slash === name)) return [];
    const hint = argumentsFor(action, user);
    const does = hint === undefined ? inWords(help) : `${inWords(help)} ${inWords(hint)}`;
    return [{ name: `/${name}`, words: [name, ...aliases].map((word) => `/${word}`), does }];
  });
}

/** What a line calls for; nothing where it is words or a prompt. Throws a sentence when it calls for nothing here. */
export function slashAct(
  line: string,
  written: readonly Action[],
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
