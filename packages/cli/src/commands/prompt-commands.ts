import { say } from "@banyan/core";
import { instructionsRequest } from "@banyan/core/conversation";
import { filledPrompt, type Host, type PromptCommand, promptOf } from "@banyan/host";
import { type McpServers, serversSettled } from "@banyan/host/mcp";
import { oneLine } from "../show/plain-text.ts";
import { ASK, type Command, type ConversationContext } from "./command.ts";

/**
 * What users, projects and MCP servers have people say with a slash: each says a text of its own to the agent. Waits so many
 * milliseconds, at most, for the servers that are still starting.
 */
export async function promptCommands(host: Host, patience = 0): Promise<Command[]> {
  const { commands, mcp } = await host.ready();
  if (mcp && patience > 0) await serversSettled(mcp, AbortSignal.timeout(patience));
  return [...commands.map(fromFile), ...(mcp ? mcp.prompts.map((prompt) => fromServer(host, mcp, prompt)) : [])];
}

function fromFile(command: PromptCommand): Command {
  const { name, description, hint, model } = command;
  return {
    name: name.toLowerCase(),
    help: oneLine(description),
    ...(hint === undefined ? {} : { takes: oneLine(hint) }),
    run(_context, argument) {
      const directive = say(promptOf(command, argument));
      return { type: "turn", directive, ...(model === undefined ? {} : { model }) };
    },
  };
}

/** A prompt of a server is `/server:prompt`. Its arguments are words in their order; the last one takes all that is left. */
function fromServer(host: Host, servers: McpServers, prompt: McpServers["prompts"][number]): Command {
  const { server, name, description, arguments: wanted } = prompt;
  const takes = wanted.map((argument) => (argument.required ? argument.name : `[${argument.name}]`)).join(" ");
  return {
    name: `${server}:${name}`.toLowerCase(),
    help: oneLine(description || `a prompt of ${server}`),
    ...(takes === "" ? {} : { takes: oneLine(takes) }),
    async run({ write }, argument) {
      const words = argument.split(/\s+/).filter((word) => word !== "");
      const values = wanted.flatMap((each, index) => {
        const isLast = index === wanted.length - 1;
        const value = isLast ? words.slice(index).join(" ") : (words[index] ?? "");
        return value === "" ? [] : [[each.name, value] as const];
      });
      const given = Object.fromEntries(values);
      const missing = wanted.find((each) => each.required && !(each.name in given));
      if (missing) {
        write(`/${server}:${name} needs ${oneLine(missing.name)}: ${oneLine(missing.description)}`.replace(/: $/, "."));
        return ASK;
      }
      const parts = await filledPrompt(host, servers, prompt, given, AbortSignal.timeout(PATIENCE));
      return { type: "turn", directive: say(parts), asIs: true };
    },
  };
}

/** Milliseconds that a server has to fill a prompt in. */
const PATIENCE = 30_000;

/** A text of ours that is said: the project's instructions are to be written (C15). */
export const init: Command<ConversationContext> = {
  name: "init",
  givesWay: true,
  takes: "[what matters]",
  help: "have the agent look around and write the project's AGENTS.md, which agents are told before every conversation",
  run(_context, argument) {
    return { type: "turn", directive: say(instructionsRequest(argument)) };
  },
};
