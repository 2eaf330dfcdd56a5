import type { Client } from "@banyan/client";
import type { Result } from "@banyan/protocol";
import { oneLine } from "../show/plain-text.ts";
import type { CommandName } from "../terminal/full/prompt/completions.ts";
import type { ConversationContext } from "./command.ts";

/**
 * The prompts that users, projects and MCP servers bring, as a terminal offers them. Waits up to `wait` milliseconds for servers
 * that are starting. Rejects with `ClientError`.
 */
export async function promptCommands(
  { prompts }: Pick<ConversationContext, "prompts">,
  wait = 0,
): Promise<CommandName[]> {
  return (await prompts(wait)).map(({ name, description, hint }) => ({
    name,
    help: oneLine(description),
    ...(hint === undefined ? {} : { takes: oneLine(hint) }),
  }));
}

/** The prompts of a desk; while it is away, as they were the last time. Rejects with `ClientError`. */
export function promptsAt(client: Client, isAway = () => false): ConversationContext["prompts"] {
  let known: Result<"prompt.list">["prompts"] = [];
  return async (wait) => {
    if (isAway() || !client.welcome.rights.includes("act")) return known;
    try {
      known = (await client.ask("prompt.list", { wait })).prompts;
    } catch (error) {
      // A server of an older version brings none.
      if (!(error instanceof Error && "code" in error && error.code === "unknown-command")) throw error;
    }
    return known;
  };
}
