import { type Agent, AgentError, defineTool, type Tool } from "@banyan/core";
import type { ClientTool, Command } from "@banyan/protocol";
import type { LiveConversation } from "../live/live-conversation.ts";
import type { Workplace } from "./workplace.ts";

/** Milliseconds that a call waits for the program that carries it out. A turn must not wait for one that is gone. */
const PATIENCE = 15 * 60_000;

/** The agent that works in a conversation: with the model that the command names, else the conversation, else the settings. */
export async function agentFor(
  { host }: Workplace,
  { session }: LiveConversation,
  how: Pick<Command<"turn.say">, "mode" | "model" | "tools">,
): Promise<Agent> {
  const model = how.model ?? session.state.model;
  const agent = model === undefined ? host.agent : await host.agentWith(model);
  const taken = how.mode === "task" ? (await host.taskAgent()).with({ model: agent.options.model }) : agent;
  return withClientTools(host.informed(taken, session.state), how.tools);
}

/**
 * The agent, with tools that whoever asks for a turn carries out. A call of one asks a question in words, so that it waits
 * and is answered as all that waits for a person is: by any client, once. No rule judges it, since nothing is done here.
 * Throws `AgentError` for a tool of a name that the agent has.
 */
function withClientTools(agent: Agent, tools: readonly ClientTool[] = []): Agent {
  if (tools.length === 0) return agent;
  const { tools: own = [], permission } = agent.options;
  const made = new Map<string, Tool>();
  for (const tool of tools) {
    if (made.has(tool.name) || own.some(({ name }) => name === tool.name)) {
      const whose = made.has(tool.name) ? "is there twice" : "is one of the agent itself";
      throw new AgentError(`tools: ${tool.name} ${whose}. Give it another name.`);
    }
    made.set(tool.name, toolOf(tool));
  }
  return agent.with({
    tools: [...own, ...made.values()],
    permission: (request) => {
      if (made.get(request.tool.name) === request.tool) return { decision: "allow" };
      return permission ? permission(request) : { decision: "allow" };
    },
  });
}

function toolOf({ name, description, input }: ClientTool): Tool {
  return defineTool({
    ...{ name, description, input: { ...input, type: "object" }, effects: "none", timeout: PATIENCE },
    execute: (_, { ask }) => ask({ text: `The program that asked for this turn runs ${name}. What came of it?` }),
  });
}
