import type { Client } from "@banyan/client";
import type { Result } from "@banyan/protocol";
import { plainLine } from "../show/plain-text.ts";
import type { OfferedCommand } from "../terminal/full/prompt/completions.ts";
import type { ConversationContext } from "./command.ts";

/**
 * Returns the prompts of users, projects and MCP servers as commands of a terminal. Waits up to `wait` milliseconds for
 * servers that are starting. Rejects with `ClientError`.
 */
export async function promptCommands(
  { prompts }: Pick<ConversationContext, "prompts">,
  wait = 0,
): Promise<OfferedCommand[]> {
  return (await prompts(wait)).map(({ name, description, hint }) => ({
    name,
    help: plainLine(description),
    ...(hint === undefined ? {} : { takes: plainLine(hint) }),
  }));
}

/** Returns a function that lists a server's prompts, or the last known prompts while there is no connection. */
export function promptsAt(client: Client, isAway = () => false): ConversationContext["prompts"] {
  let known: Result<"prompt.list">["prompts"] = [];
  return async (wait) => {
    if (isAway() || !client.welcome.rights.includes("act")) return known;
    try {
      known = (await client.ask("prompt.list", { wait })).prompts;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "unknown-command")) throw error;
    }
    return known;
  };
}
