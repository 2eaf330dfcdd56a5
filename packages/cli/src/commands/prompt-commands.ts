import type { Client } from "@banyan/client";
import { say } from "@banyan/core";
import { instructionsRequest } from "@banyan/core/conversation";
import type { Result } from "@banyan/protocol";
import { oneLine } from "../show/plain-text.ts";
import type { Command, ConversationContext, SayingCommand } from "./command.ts";

/**
 * What users, projects and MCP servers have people say with a slash: each says a text of its own to the agent, which the desk puts
 * together. Waits so many milliseconds, at most, for the servers that are still starting. Rejects as the desk does.
 */
export async function promptCommands(
  { prompts }: Pick<ConversationContext, "prompts">,
  wait = 0,
): Promise<Command<ConversationContext>[]> {
  return (await prompts(wait)).map(({ name, description, hint }) => ({
    name,
    help: oneLine(description),
    ...(hint === undefined ? {} : { takes: oneLine(hint) }),
    run(_context, argument) {
      return { type: "turn", directive: { type: "prompt", prompt: name, argument } };
    },
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

/** A text of ours that is said: the project's instructions are to be written (C15). */
export const init: SayingCommand = {
  name: "init",
  givesWay: true,
  takes: "[what matters]",
  help: "have the agent look around and write the project's AGENTS.md, which agents are told before every conversation",
  run(_context, argument) {
    return { type: "turn", directive: say(instructionsRequest(argument)) };
  },
};
