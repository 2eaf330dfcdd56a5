import { type OptionNames, refuseUnknown } from "../../conversation/option-names.ts";
import { defineTool } from "../../ports/define-tool.ts";
import type { Tool } from "../../ports/tool.ts";
import type { ChatAgent } from "../chat.ts";
import { agentDescription, subTaskReport, toolName } from "./launch-agent.ts";

/** Name and description of a tool that hands work to an agent. */
export interface AgentToolOptions {
  /** Name of the tool. Default: the name of the agent. For a hand-off: `hand_off_to_` and this name. */
  readonly name?: string | undefined;
  /** Tells the model when to use the tool. Default: the description of the agent. */
  readonly description?: string | undefined;
}

const OPTIONS: OptionNames<AgentToolOptions> = { name: "string", description: "string" };

const TASK =
  "The task. The agent sees nothing of this conversation, so the task must contain everything that the agent needs to know.";

/**
 * Makes an agent available as a tool. Each call gives the agent a task as a sub-agent, and returns its result or its
 * last text.
 */
export function taskTool(agent: ChatAgent, options: AgentToolOptions): Tool {
  refuseUnknown("asTool", options, OPTIONS);
  return defineTool({
    name: toolName("asTool", options.name ?? agent.options.name),
    description: options.description ?? agentDescription(agent, "asTool"),
    input: {
      type: "object",
      properties: { task: { type: "string", description: TASK } },
      required: ["task"],
      additionalProperties: false,
    },
    // After a crash, a second call continues the same sub-agent.
    effects: "idempotent",
    parallel: true,
    control: true,
    about: (input) => ({ title: (input as { readonly task: string }).task, agent: agent.name }),
    async execute(input, { launch }) {
      const end = await launch({ task: (input as { readonly task: string }).task, agent });
      if (agent.options.output === undefined) return subTaskReport(end);
      if (end.result === undefined) throw new Error(subTaskReport(end));
      return end.result;
    },
  });
}
