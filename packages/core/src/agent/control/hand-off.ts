import { OptionError, type OptionNames, refuseUnknown } from "../../conversation/option-names.ts";
import { defineTool } from "../../ports/define-tool.ts";
import type { Tool } from "../../ports/tool.ts";
import type { ChatAgent } from "../chat.ts";
import type { AgentToolOptions } from "./agent-tool.ts";
import { agentDescription, toolName } from "./launch-agent.ts";

const OPTIONS: OptionNames<AgentToolOptions> = { name: "string", description: "string" };

/**
 * Makes a tool that hands the conversation over to another agent. That agent continues the turn in the same stream and
 * on the same branch, and also takes the next turns there. It works with its own options, within the limits and rules
 * of the first agent. If two agents hand over to each other, the agent that is defined later is given as a function:
 * `handOff(() => writer, { name: "hand_off_to_writer", description: "Writes stories." })`.
 * @example
 * const writer = new Agent({ name: "writer", description: "Writes stories.", model });
 * const desk = new Agent({ name: "desk", model, tools: [handOff(writer)] });
 * console.log((await desk.send("Tell me a story.")).text);
 */
export function handOff(to: ChatAgent | (() => ChatAgent), options: AgentToolOptions = {}): Tool {
  refuseUnknown("handOff", options, OPTIONS);
  const { name, description } = typeof to === "function" ? options : optionsFor(to, options);
  if (name === undefined || description === undefined) {
    const example = 'handOff(() => writer, { name: "hand_off_to_writer", description: "Writes stories." })';
    throw new OptionError(`handOff: a function needs the name and the description of the tool, as in ${example}.`);
  }
  const handsTo = typeof to === "function" ? to : () => to;
  return defineTool({
    name: toolName("handOff", name),
    description,
    input: {
      type: "object",
      properties: {
        note: { type: "string", description: "The task of the other agent, which sees this conversation." },
      },
      additionalProperties: false,
    },
    effects: "idempotent",
    control: true,
    handsTo,
    about(input) {
      const { note } = input as { readonly note?: string };
      return { agent: handsTo().name, ...(note !== undefined && { title: note }) };
    },
    execute: () => `The agent "${handsTo().name}" continues the conversation from here on.`,
  });
}

function optionsFor(agent: ChatAgent, { name, description }: AgentToolOptions): AgentToolOptions {
  if (typeof agent !== "object" || agent === null || !("ready" in agent))
    throw new OptionError("handOff: pass an Agent, as in handOff(writer).");
  const own = agent.options.name === undefined ? undefined : `hand_off_to_${agent.name}`;
  return {
    name: toolName("handOff", name ?? own),
    description:
      description ?? `Hands the conversation over to the agent "${agent.name}": ${agentDescription(agent, "handOff")}`,
  };
}
