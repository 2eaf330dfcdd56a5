import { fromLanguageModel, isLanguageModel, refusal } from "../ports/language-model.ts";
import type { LoopDriver } from "../ports/loop.ts";
import type { ModelDriver, ModelSettings } from "../ports/model.ts";
import type { Tool } from "../ports/tool.ts";
import type { Compaction } from "../turn/compaction.ts";
import { instructionsFor, launch, settingsFor } from "../turn/launch.ts";
import { checkLimits } from "../turn/limits.ts";
import type { Mode } from "../turn/mode.ts";
import type { TurnAgent } from "../turn/run.ts";
import { estimate } from "../turn/tokens.ts";
import { digestOf, Toolbox } from "../turn/toolbox.ts";
import type { Agent, AgentOptions, CompactionOptions } from "./agent.ts";
import { chatMode } from "./mode/chat-mode.ts";
import { taskMode } from "./mode/task-mode.ts";

/** An option that no agent can have. */
export class AgentError extends Error {
  override readonly name = "AgentError";
  readonly code = "invalid-option";
}

const ready = new WeakMap<Agent, TurnAgent>();

/**
 * What a turn needs of an agent, made once. Throws `AgentError`, `LimitError` or `ToolDefinitionError` for options that
 * no turn can have.
 */
export function turnAgent(agent: Agent): TurnAgent {
  const known = ready.get(agent);
  if (known) return known;
  const { options } = agent;
  checkOptions(options);
  const { instructions = "", settings = NO_SETTINGS, limits = {}, memory, tools = NO_TOOLS } = options;
  const driver = driverOf(options.model);
  const mode = modeOf(options);
  const text = instructionsFor(instructions, mode.instructions);
  const made: TurnAgent = {
    name: agent.name,
    model: driver,
    modelNamed: options.modelNamed && (async (name) => withModel(agent, await options.modelNamed?.(name))),
    instructions: { text, digest: digestOf(text) },
    toolbox: Toolbox.of(mode.tools.length === 0 ? tools : [...tools, ...mode.tools]),
    own: { instructions, tools, settings },
    mode,
    taskMode: mode.name === "task" && options.output === undefined ? mode : TASK,
    unattended: options.unattended ?? false,
    compaction: compactionOf(options.compaction, "contextSize" in driver ? driver.contextSize : undefined),
    launch,
    settings: settingsFor(driver, settings),
    limits,
    retry: options.retry ?? {},
    bounds: options.bounds ?? {},
    memory: memory && { store: memory.store, limit: memory.limit ?? 8, timeout: memory.timeout ?? 5_000 },
    permission: options.permission,
    callbacks: options.callbacks ?? {},
  };
  ready.set(agent, made);
  return made;
}

function checkOptions({
  model,
  settings = {},
  limits = {},
  memory,
  retry = {},
  bounds = {},
  tools = NO_TOOLS,
}: AgentOptions): void {
  if (!model) throw new AgentError("An agent needs a model: new Agent({ model }).");
  if (!Array.isArray(tools)) throw new AgentError("The tools of an agent are a list: tools: [...].");
  checkSettings(settings);
  checkLimits(limits);
  checkTimes({ "memory.timeout": memory?.timeout, "memory.limit": memory?.limit });
  const { attempts, time, delay, maxDelay, idle } = retry;
  checkTimes({ "retry.attempts": attempts, "retry.time": time, "retry.delay": delay });
  checkTimes({ "retry.maxDelay": maxDelay, "retry.idle": idle });
  checkTimes({ "bounds.answer": bounds.answer, "bounds.arguments": bounds.arguments });
}

function driverOf(model: AgentOptions["model"]): ModelDriver | LoopDriver {
  if (isLanguageModel(model)) return fromLanguageModel(model);
  const given: unknown = model;
  if (typeof given === "object" && given !== null) {
    if ("stream" in given || "run" in given) return model as ModelDriver | LoopDriver;
    if ("specificationVersion" in given) throw new AgentError(refusal(given));
  }
  const what = given instanceof Promise ? "a promise: await it" : typeof given === "string" ? "a name" : typeof given;
  throw new AgentError(
    `The model of an agent is a driver, such as resolveModel("provider/model") of @banyan/models finds, or a model of an AI SDK package; this is ${what}.`,
  );
}

function modeOf({ mode = "chat", output }: AgentOptions): Mode {
  switch (mode) {
    case "chat":
      return chatMode;
    case "task":
      return taskMode(output);
    default:
      mode satisfies never;
      throw new AgentError(`mode is "${mode}"; it must be "chat" or "task".`);
  }
}

function withModel(agent: Agent, model: Agent["options"]["model"] | undefined): TurnAgent {
  return turnAgent(model ? agent.with({ model }) : agent);
}

// One each, so that a driver can know what it has encoded by what it was given.
const NO_TOOLS: readonly Tool[] = [];
const NO_SETTINGS: ModelSettings = {};
const TASK = taskMode();

function compactionOf(options: CompactionOptions | false = {}, known: number | undefined): Compaction | undefined {
  if (options === false) return undefined;
  const { hint = 0.65, threshold = 0.8, contextSize = known, count = estimate } = options;
  for (const [name, share] of Object.entries({ hint, threshold })) {
    if (!(share > 0 && share <= 1)) {
      throw new AgentError(`compaction.${name} is ${share}; it must be a part of the context, above 0 and at most 1.`);
    }
  }
  checkTimes({ "compaction.contextSize": contextSize });
  return { hint, threshold, contextSize, count };
}

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
