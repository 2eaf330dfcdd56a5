import type { LiveRun } from "@banyan/core/conversation";
import { useConversation } from "../conversation/use-conversation.ts";
import { useBegin } from "../conversations/new-conversation.tsx";
import { usePage } from "../page.ts";

/** Something that is done by writing its name. */
export interface SlashCommand {
  /** Begins with a slash. */
  readonly name: string;
  readonly does: string;
  act(): unknown;
}

/** What can be done from the message box of a branch (W43). */
export function useCommands({
  leaf,
  run,
  stop,
}: {
  readonly leaf: string | null;
  readonly run: LiveRun | undefined;
  stop(): Promise<void>;
}): readonly SlashCommand[] {
  const { connection } = usePage();
  const { id: conversation } = useConversation();
  const begin = useBegin();
  const at = leaf === null ? {} : { at: leaf };
  const all: readonly SlashCommand[] = [
    { name: "/new", does: "Begins another conversation", act: begin },
    {
      name: "/retry",
      does: "Asks the last question again",
      act: () => connection.ask("turn.retry", { conversation, ...at }),
    },
    {
      name: "/resume",
      does: "Goes on without a new message",
      act: () => connection.ask("turn.resume", { conversation, ...at }),
    },
    { name: "/stop", does: "Stops what runs on this branch", act: stop },
  ];
  return run
    ? all.filter(({ name }) => name !== "/retry" && name !== "/resume")
    : all.filter(({ name }) => name !== "/stop");
}
