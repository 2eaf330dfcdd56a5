import type { ActionUser } from "@banyan/client/actions";
import { useEffect, useState } from "react";
import { useAllActions } from "../parts/page/actions.tsx";
import { usePage } from "../parts/page/page.ts";
import { useAllowance } from "../parts/page/use-may.ts";
import { type PromptRequest, type ServerPrompt, useServerPrompts } from "./server-prompts.ts";
import type { SlashCommand } from "./slash-lines.ts";

/** The slash commands that are available in the message box (W43, W65). */
export interface SlashCommands {
  all(): readonly SlashCommand[];
  readonly prompts: readonly ServerPrompt[];
  promptIn(text: string): PromptRequest | undefined;
  /** Runs a text that is a command, and returns whether it was one. Throws if a command is unknown or unavailable here. */
  act(text: string): boolean;
  /** Resolves when the code that can read the text is loaded; rejects if loading fails. `undefined` if no code is missing. */
  wait(text: string): Promise<unknown> | undefined;
}

let slashLines: typeof import("./slash-lines.ts") | undefined;
let loading: Promise<unknown> | undefined;

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

/** Returns the slash commands of the page and the saved prompts of the server, for the text in the message box. */
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
  const user: ActionUser = { client: "page", ...useAllowance() };
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
