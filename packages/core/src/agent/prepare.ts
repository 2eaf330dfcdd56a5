import { fromLanguageModel, isLanguageModel } from "../ports/language-model.ts";
import type { ModelSettings } from "../ports/model.ts";
import type { Tool } from "../ports/tool.ts";
import { checkLimits } from "../turn/limits.ts";
import type { TurnAgent } from "../turn/run.ts";
import { digestOf, Toolbox } from "../turn/toolbox.ts";
import type { Agent } from "./agent.ts";

/** An option that no agent can have. */
export class AgentError extends Error {
  override readonly name = "AgentError";
  readonly code = "invalid-option";
}

const ready = new WeakMap<Agent, TurnAgent>();

/** What a turn needs of an agent, made once. Throws `AgentError`, `LimitError` or `ToolDefinitionError` for options that no turn can have. */
export function turnAgent(agent: Agent): TurnAgent {
  const known = ready.get(agent);
  if (known) return known;
  const { options } = agent;
  const { model, instructions = "", settings = {}, limits = {}, memory } = options;
  if (!model) throw new AgentError("An agent needs a model: new Agent({ model }).");
  checkSettings(settings);
  checkLimits(limits);
  checkTimes({ "memory.timeout": memory?.timeout, "memory.limit": memory?.limit });
  const { attempts, delay, maxDelay, idle } = options.retry ?? {};
  checkTimes({ "retry.attempts": attempts, "retry.delay": delay, "retry.maxDelay": maxDelay, "retry.idle": idle });
  const driver = isLanguageModel(model) ? fromLanguageModel(model) : model;
  const made: TurnAgent = {
    name: agent.name,
    model: driver,
    instructions: { text: instructions, digest: digestOf(instructions) },
    toolbox: Toolbox.of(options.tools ?? NO_TOOLS),
    settings: "settings" in driver && driver.settings ? { ...driver.settings, ...settings } : settings,
    limits,
    retry: options.retry ?? {},
    memory: memory && { store: memory.store, limit: memory.limit ?? 8, timeout: memory.timeout ?? 5_000 },
    permission: options.permission,
    callbacks: options.callbacks ?? {},
  };
  ready.set(agent, made);
  return made;
}

const NO_TOOLS: readonly Tool[] = [];

function checkSettings({ temperature, maxTokens }: ModelSettings): void {
  if (temperature !== undefined && !(temperature >= 0 && temperature <= 2)) {
    throw new AgentError(`settings.temperature is ${temperature}; it must be a number from 0 to 2.`);
  }
  if (maxTokens !== undefined && !(Number.isInteger(maxTokens) && maxTokens > 0)) {
    throw new AgentError(`settings.maxTokens is ${maxTokens}; it must be a positive whole number.`);
  }
}

function checkTimes(options: Readonly<Record<string, number | undefined>>): void {
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined && !(value > 0)) throw new AgentError(`${name} is ${value}; it must be a positive number.`);
  }
}
