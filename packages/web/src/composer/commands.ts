import type { ActionUser } from "@banyan/client/actions";
import { useEffect, useState } from "react";
import { useAllActions } from "../parts/page/actions.tsx";
import { usePage, usePageState } from "../parts/page/page.ts";
import { type PromptRequest, type ServerPrompt, useServerPrompts } from "./brought.ts";
import type { SlashCommand } from "./slash-lines.ts";

/** The slash commands that are available here (W43, W65). */
export interface SlashCommands {
  /** The current commands, in the order of `/help`. */
  all(): readonly SlashCommand[];
  /** The prompts of files and MCP servers, except those hidden by a command of the page. */
  readonly prompts: readonly ServerPrompt[];
  /** The prompt that a text calls. */
  promptIn(text: string): PromptRequest | undefined;
  /** Runs a text that is a command, and returns whether it was one. Throws if a command is unknown or unavailable here. */
  act(text: string): boolean;
  /**
   * Resolves when the code that can read the text is loaded; rejects if loading fails. `undefined` for a text that needs no
   * further code.
   */
  wait(text: string): Promise<unknown> | undefined;
}

let slashLines: typeof import("./slash-lines.ts") | undefined;
let loading: Promise<unknown> | undefined;

/** Loads the reader of slash lines, again after a failure. */
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

/** The slash commands of the page and the prompts of the server, for the text in the message box. */
export function useSlashCommands(text: string): SlashCommands {
  const page = usePage();
  const actions = useAllActions();
  const brought = useServerPrompts(text.startsWith("/"));
  const [lines, setLines] = useState(slashLines);
  useEffect(() => {
    // If loading fails, the next line tries again.
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
