import { OptionError, type OptionNames, refuseUnknown } from "../../conversation/option-names.ts";
import { nearestNameAdvice } from "../../conversation/shown/nearest.ts";
import { defineTool } from "../../ports/define-tool.ts";
import type { ModelDriver } from "../../ports/model.ts";
import type { LoopDriver, SubTask, Tool } from "../../ports/tool.ts";
import type { SubTaskEnd } from "../../ports/tool-values.ts";
import type { ChatAgent } from "../chat.ts";

/**
 * A variant of the launching agent, which the model can launch. For an agent with its own options, pass an `Agent`. See
 * {@link LaunchAgentOptions}.
 */
export interface NamedAgent {
  readonly name: string;
  /** The purpose of the agent, for the model. */
  readonly description: string;
  readonly instructions: string;
  /** Name of the sub-agent's model, for `resolveModel`. Default: the model of the launching agent. */
  readonly model?: string | undefined;
  /** Names of the sub-agent's tools. Default: all tools of the launching agent. */
  readonly tools?: readonly string[] | undefined;
}

/**
 * Options for sub-agents.
 * @example
 * const researcher = new Agent({ name: "researcher", description: "Finds facts.", model, tools, limits: { cost: 0.1 } });
 * new Agent({ model, tools: [launchAgent({ agents: [researcher] })] });
 * @example
 * launchAgent({
 *   agents: [
 *     {
 *       name: "reader",
 *       description: "Reads much and says little.",
 *       instructions: "Answer in three sentences.",
 *       model: "anthropic/claude-haiku-4-5",
 *       tools: ["read", "search"],
 *     },
 *   ],
 *   resolveModel: (name) => resolveModel(name),
 * });
 */
export interface LaunchAgentOptions {
  /**
   * Agents that the model can launch by name. An `Agent` needs a name and a description. It works in its own mode, with
   * its own model, instructions, tools, `output` and limits, within the limits and rules of the launching agent.
   */
  readonly agents?: readonly (NamedAgent | ChatAgent)[] | undefined;
  /** Returns the model with a name. Default: sub-agents use the model of the launching agent. */
  readonly resolveModel?: ((name: string) => Promise<ModelDriver | LoopDriver>) | undefined;
}

const OPTIONS: OptionNames<LaunchAgentOptions> = { agents: "list", resolveModel: "function" };
const NAMED: OptionNames<NamedAgent> = {
  name: "string!",
  description: "string!",
  instructions: "string!",
  model: true,
  // A host computes this list on demand, so it is not read here.
  tools: true,
};

interface LaunchInput {
  readonly task: string;
  readonly expected_output: string;
  readonly agent?: string;
  readonly instructions?: string;
  readonly model?: string;
  readonly tools?: readonly string[];
}

/**
 * Makes the tool `launch_agent {task, expected_output, agent?, instructions?, model?, tools?}`, which gives a task to a
 * sub-agent and returns its result.
 * @example const guide = new Agent({ model, tools: [launchAgent()], limits: { tokens: 50_000, depth: 1 } });
 */
export function launchAgent(options: LaunchAgentOptions = {}): Tool {
  refuseUnknown("launchAgent", options, OPTIONS);
  const known = (options.agents ?? []).map(launchable);
  for (const { name } of known) {
    if (known.filter((other) => other.name === name).length > 1)
      throw new OptionError(`launchAgent: two agents have the name "${name}"; rename one.`);
  }
  const text = (description: string) => ({ type: "string", description });
  return defineTool({
    name: "launch_agent",
    description: `Hands a task to a sub-agent, which works alone and returns a result. Sub-agents see nothing of this conversation: the task must contain all facts. Several in one message run at the same time.${listAgents(known)}`,
    input: {
      type: "object",
      properties: {
        task: { type: "string" },
        expected_output: text("Required contents of the result."),
        ...(known.length > 0 ? { agent: { type: "string", enum: known.map(({ name }) => name) } } : {}),
        instructions: text("In place of your own."),
        ...(options.resolveModel ? { model: text("Default: your model.") } : {}),
        tools: {
          type: "array",
          items: { type: "string" },
          description: "Default: all your tools, or those of the named agent.",
        },
      },
      required: ["task", "expected_output"],
      additionalProperties: false,
    },
    // After a crash, a second launch continues the same sub-agent.
    effects: "idempotent",
    parallel: true,
    control: true,
    about(input) {
      const { task, agent } = input as LaunchInput;
      return { title: task, ...(agent !== undefined && { agent }) };
    },
    async execute(input: unknown, context) {
      const asked = input as LaunchInput;
      const named = findNamedAgent(known, asked.agent);
      const model = asked.model ?? named?.model;
      const instructions = asked.instructions ?? named?.instructions;
      const tools = toolsForAgent(named, asked.tools);
      const task: SubTask = {
        task: `${asked.task}\n\nThe result must contain: ${asked.expected_output}`,
        ...(named ? { name: named.name, agent: named.agent } : {}),
        ...(instructions === undefined ? {} : { instructions }),
        ...(tools === undefined ? {} : { tools }),
        ...(model !== undefined && options.resolveModel ? { model: await options.resolveModel(model) } : {}),
      };
      const end = await context.launch(task);
      return named?.agent?.options.output !== undefined && end.result !== undefined ? end.result : subTaskReport(end);
    },
  });
}

/** An agent of the option `agents`. `agent`: the agent that was passed by value. */
interface LaunchableAgent extends Omit<NamedAgent, "instructions"> {
  readonly instructions?: string | undefined;
  readonly agent?: ChatAgent | undefined;
}

function launchable(agent: NamedAgent | ChatAgent, index: number): LaunchableAgent {
  if (!isByValue(agent)) {
    refuseUnknown("launchAgent", agent, NAMED, `agents[${index}].`);
    if (agent.model === undefined || typeof agent.model === "string") return agent;
    const advice = "Pass new Agent({ ... }) for an agent with a model of its own.";
    throw new OptionError(`launchAgent: agents[${index}].model must be the name of a model. ${advice}`);
  }
  if (agent.options.name === undefined)
    throw new OptionError(`launchAgent: agents[${index}] needs a name: new Agent({ name: "researcher", ... }).`);
  return { name: agent.name, description: agentDescription(agent, "launchAgent"), agent };
}

function isByValue(agent: NamedAgent | ChatAgent): agent is ChatAgent {
  return typeof agent === "object" && agent !== null && "options" in agent;
}

/**
 * Returns the description of an agent, for the model of the agent that hands work over. Throws `OptionError` if it has
 * none.
 */
export function agentDescription({ name, options: { description } }: ChatAgent, of: string): string {
  if (description !== undefined && description.trim() !== "") return description;
  throw new OptionError(
    `${of}: the agent "${name}" needs a description: new Agent({ description: "Finds facts.", ... }).`,
  );
}

function listAgents(agents: readonly LaunchableAgent[]): string {
  if (agents.length === 0) return "";
  return ` Named agents: ${agents.map(({ name, description }) => `${name} (${description})`).join("; ")}.`;
}

function findNamedAgent(agents: readonly LaunchableAgent[], name: string | undefined): LaunchableAgent | undefined {
  if (name === undefined) return undefined;
  const found = agents.find((agent) => agent.name === name);
  if (found) return found;
  const advice = nearestNameAdvice(
    name,
    agents.map((agent) => agent.name),
  );
  throw new Error(`There is no agent "${name}". ${advice}`);
}

/** Returns the requested tools. A named agent gets only tools that it has. */
function toolsForAgent(named: LaunchableAgent | undefined, asked: readonly string[] | undefined) {
  const has = named?.agent ? (named.agent.options.tools ?? []).map(({ name }) => name) : named?.tools;
  // An agent by value has its own tools.
  if (named?.agent && asked === undefined) return undefined;
  if (has === undefined || asked === undefined) return asked ?? has;
  const foreign = asked.filter((tool) => !has.includes(tool));
  if (foreign.length === 0) return asked;
  throw new Error(
    `Not launched: the agent "${named?.name}" has no tool ${foreign.join(", ")}. It has: ${has.join(", ") || "none"}.`,
  );
}

/** Returns the report of a sub-agent. If it did not finish, the report contains the reason and its last text. */
export function subTaskReport({ reason, text, problem }: SubTaskEnd): string {
  if (reason === "finished") return text;
  const so = text === "" ? "The sub-agent had written no text yet." : `Its last text:\n${text}`;
  switch (reason) {
    case "interrupted":
      throw new Error(`the sub-agent was stopped before it was done. ${so}`);
    case "limit":
      return `The sub-agent reached ${problem ?? "a limit"} before it was done. ${so}`;
    case "failed":
      throw new Error(`the sub-agent failed: ${problem ?? "for an unknown reason"} ${so}`);
    case "answered":
      return text;
    case "waiting":
      throw new Error(`the sub-agent waits for the user. ${so}`);
  }
}

/** Returns the name of a tool that hands work to an agent. Throws `OptionError` if there is no valid name. */
export function toolName(of: string, name: string | undefined): string {
  if (name !== undefined && /^[\w-]{1,64}$/.test(name)) return name;
  const near = (name ?? "researcher").replace(/[^\w-]+/g, "_").slice(0, 64);
  const what = name === undefined ? "the tool needs a name" : `"${name}" cannot name a tool`;
  throw new OptionError(`${of}: ${what}. Pass a name, as in { name: "${near}" }.`);
}
