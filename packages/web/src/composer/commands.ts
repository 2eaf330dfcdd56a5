import type { ActionUser } from "@banyan/client/actions";
import { useEffect, useState } from "react";
import { usePage, usePageState } from "../page.ts";
import { useAllActions } from "../palette/actions.tsx";
import { type AskedPrompt, type BroughtPrompt, useBroughtPrompts } from "./brought.ts";

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
  /**
   * For a text that can only be read once more of the page is loaded: resolves as soon as that is there, and rejects when it
   * cannot be loaded. Nothing for every other text.
   */
  wait(text: string): Promise<unknown> | undefined;
}

let slashLines: typeof import("./slash-lines.ts") | undefined;
let loading: Promise<unknown> | undefined;

/** Loads what reads lines with a slash; once more after a failure. */
function loadSlashLines(): Promise<unknown> {
  loading ??= import("./slash-lines.ts").then(
    (loaded) => {
      slashLines = loaded;
    },
    (error: unknown) => {
      loading = undefined;
      throw error;
    },
  );
  return loading;
}

/** The actions of the page that have a name to be written, and the prompts of the server, for what stands in the message box. */
export function useSlashCommands(text: string): SlashCommands {
  const page = usePage();
  const actions = useAllActions();
  const brought = useBroughtPrompts(text.startsWith("/"));
  const [lines, setLines] = useState(slashLines);
  useEffect(() => {
    // Without the connection the next line asks for it again.
    loadSlashLines().then(
      () => setLines(slashLines),
      () => {},
    );
  }, []);
  const prompts = lines?.offeredPrompts(brought) ?? [];
  const user: ActionUser = { client: "page", rights: usePageState(({ rights }) => rights) };
  return {
    all: () => lines?.slashCommands(actions(), user) ?? [],
    prompts,
    promptIn: (said) => slashLines?.promptIn(said, brought),
    wait: (said) => (said.startsWith("/") && !slashLines ? loadSlashLines() : undefined),
    act(said) {
      const names = slashLines?.offeredPrompts(brought).map(({ name }) => name) ?? [];
      const act = slashLines?.slashAct(said, actions(), { ...user, prompts: names });
      if (!act) return false;
      page.perform(act);
      return true;
    },
  };
}
