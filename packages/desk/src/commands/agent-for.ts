import { type Agent, defineTool, type NamedAgent, OptionError, type Tool } from "@banyan/core";
import { type ConversationState, callIn, isEnded } from "@banyan/core/conversation";
import { nearestNameAdvice } from "@banyan/core/shown";
import { contextKnown, goalOfUser } from "@banyan/host";
import type { ClientTool, Command } from "@banyan/protocol";
import type { LiveConversation } from "../live/live-conversation.ts";
import type { Workplace } from "./workplace.ts";

/** Milliseconds that a call waits for the client that runs its tool: the client may be gone. */
const PATIENCE = 15 * 60_000;

/** Settings that a client can send with a turn: agent, mode, model and client tools. */
export type TurnSettings = Pick<Command<"turn.say">, "agent" | "goal" | "mode" | "model" | "tools">;

/**
 * Returns the agent for a turn below `at`. Uses the model of the command, the conversation or the settings, in this
 * order. Rejects with `OptionError` for an unknown name, and with `WorktreeError` if the branch's files are gone.
 */
export async function agentForTurn(
  { host }: Workplace,
  { session }: LiveConversation,
  how: TurnSettings,
  at?: string | null,
): Promise<Agent> {
  const named = how.agent === undefined ? undefined : await namedAgent(host, how.agent);
  const model = how.model ?? named?.model ?? session.state.model;
  // Rejects when the files of the branch are gone.
  await host.worktrees.folderAt(session.state, at);
  const agent = model === undefined ? host.agent : await host.agentWith(model);
  const taken = how.mode === "task" ? (await host.taskAgent()).with({ model: agent.options.model }) : agent;
  await contextKnown(taken.options.model);
  const informed = host.informed(named ? asNamed(taken, named) : taken, session.state);
  const aimed = how.goal === undefined ? informed : informed.with({ goal: goalOfUser(host, how.goal, informed) });
  return withClientTools(aimed, how.tools);
}

async function namedAgent(host: Workplace["host"], name: string): Promise<NamedAgent> {
  const { agents = [] } = await host.ready();
  const found = agents.find((agent) => agent.name === name);
  if (found) return found;
  const advice = nearestNameAdvice(
    name,
    agents.map((agent) => agent.name),
  );
  throw new OptionError(`There is no agent "${name}". ${advice}`);
}

/** A named agent works like a sub-agent, without the main agent's memory. */
function asNamed(agent: Agent, { name, instructions, tools }: NamedAgent): Agent {
  const { tools: own = [] } = agent.options;
  const kept = tools === undefined ? own : own.filter((tool) => tools.includes(tool.name));
  return agent.with({ name, instructions, tools: kept, memory: undefined });
}

/**
 * Adds tools that the client runs. A call of such a tool asks a question, which waits until any client answers. No rule
 * judges the call, because this process does not run it. Throws `OptionError` for a tool name that the agent already
 * has.
 */
function withClientTools(agent: Agent, tools: readonly ClientTool[] = []): Agent {
  if (tools.length === 0) return agent;
  const { tools: own = [], permission } = agent.options;
  const made = new Map<string, Tool>();
  for (const tool of tools) {
    if (made.has(tool.name) || own.some(({ name }) => name === tool.name)) {
      const whose = made.has(tool.name) ? "is there twice" : "is one of the agent itself";
      throw new OptionError(`tools: ${tool.name} ${whose}. Give it another name.`);
    }
    made.set(tool.name, clientTool(tool));
  }
  return agent.with({
    tools: [...own, ...made.values()],
    permission: (request) => {
      if (made.get(request.tool.name) === request.tool) return { decision: "allow" };
      return permission ? permission(request) : { decision: "allow" };
    },
  });
}

function clientTool({ name, description, input }: ClientTool): Tool {
  return defineTool({
    name,
    description,
    input: { ...input, type: "object" },
    effects: "none",
    timeout: PATIENCE,
    execute: (_, { ask }) => ask({ text: resultQuestion(name) }),
  });
}

const resultQuestion = (tool: string) => `The client program runs ${tool}. What is the result?`;

/**
 * Returns a tool for each open call whose tool is not in `known`. With it, a client can send the result of the call.
 */
export function openClientTools(state: ConversationState, known: readonly ClientTool[]): ClientTool[] {
  const names = new Set<string>();
  for (const [call, asked] of state.asked) {
    const made = callIn(state, { call });
    if (made && !isEnded(made.status) && asked.some(({ text }) => text === resultQuestion(made.tool)))
      names.add(made.tool);
  }
  for (const { name } of known) names.delete(name);
  return [...names].map((name) => ({ name, description: "", input: {} }));
}
