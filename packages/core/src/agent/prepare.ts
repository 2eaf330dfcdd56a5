import { fromLanguageModel, isLanguageModel } from "../ai-sdk/language-model.ts";
import { estimate } from "../context/tokens.ts";
import { OptionError } from "../conversation/option-names.ts";
import type { ModelDriver, ModelSettings } from "../ports/model.ts";
import { textDigest } from "../ports/runtime.ts";
import type { LoopDriver, Tool } from "../ports/tool.ts";
import type { Limits } from "../run/limits.ts";
import type { Mode } from "../run/mode.ts";
import type { Compaction, TurnAgent } from "../run/run.ts";
import { Toolbox } from "../toolbox/toolbox.ts";
import { compactionFor, instructionsFor, launch, settingsFor, toolsInMode } from "../turn/launch.ts";
import type { ChatAgent } from "./chat.ts";
import { checkPositive, checkToolChoice, checkValues } from "./check-options.ts";
import { chatMode, resultMode, taskMode } from "./mode/modes.ts";
import type { CompactionOptions, TurnOptions } from "./turn-options.ts";

/**
 * Prepares an agent for turns, once per options object (B4). Throws `OptionError`, `LimitError` or
 * `ToolDefinitionError`.
 */
export function readyAgent(
  { name, options }: Pick<ChatAgent, "name" | "options">,
  withModel: (model: TurnOptions["model"] | undefined) => TurnAgent,
  others: Pick<TurnAgent, "subAgent" | "handedTo" | "holderOn">,
): TurnAgent {
  checkValues(options);
  const {
    instructions = "",
    settings = NO_SETTINGS,
    limits = NO_LIMITS,
    memory,
    tools = NO_TOOLS,
    toolChoice = "auto",
  } = options;
  const driver = modelDriver(options.model);
  const mode = agentMode(options);
  const text = instructionsFor(instructions, mode.instructions);
  const toolbox = Toolbox.of(toolsInMode(tools, mode));
  checkToolChoice(options, { model: driver, toolbox, mode });
  return {
    name,
    model: driver,
    modelNamed: options.modelNamed && (async (name) => withModel(await options.modelNamed?.(name))),
    fallbacks: options.fallbacks ?? [],
    instructions: { text, digest: textDigest(text) },
    toolbox,
    toolChoice,
    toolsFor: options.toolsFor,
    own: { instructions, tools, settings },
    context: options.context,
    mode,
    taskMode: mode.name === "task" && options.output === undefined ? mode : TASK,
    goal: options.goal,
    unattended: options.unattended ?? false,
    hooks: options.hooks ?? {},
    guards: options.guards as TurnAgent["guards"],
    compaction: compactionOf(options.compaction, driver),
    storeText: options.storeText,
    launch,
    ...others,
    settings: settingsFor(driver, settings),
    limits,
    rateLimit: options.rateLimit,
    retry: options.retry ?? {},
    bounds: options.bounds ?? {},
    memory: memory && {
      store: memory.store,
      limit: memory.limit ?? 8,
      timeout: memory.timeout ?? 5_000,
      cites: memory.cite ?? false,
    },
    permission: options.permission,
    callbacks: options.callbacks ?? {},
    callsAtOnce: options.callsAtOnce ?? 10,
  };
}

function modelDriver(model: TurnOptions["model"]): ModelDriver | LoopDriver {
  if (!isLanguageModel(model)) return model;
  const driver = drivers.get(model) ?? fromLanguageModel(model);
  drivers.set(model, driver);
  return driver;
}

/** One driver per language model: all agents with the model share its learnt window. */
const drivers = new WeakMap<object, ModelDriver>();

function agentMode({ mode = "chat", output, retry }: TurnOptions): Mode {
  switch (mode) {
    case "chat":
      return output === undefined ? chatMode : resultMode(output, retry?.results);
    case "task":
      return taskMode(output, retry?.results);
    default:
      mode satisfies never;
      throw new OptionError(`mode is "${mode}"; it must be "chat" or "task".`);
  }
}

// Constants, so that drivers can cache encoded requests by identity.
const NO_TOOLS: readonly Tool[] = [];
const NO_SETTINGS: ModelSettings = {};
// A sub-agent with the same limits as its parent shares the parent's pool.
const NO_LIMITS: Limits = {};
const TASK = taskMode();

function compactionOf(
  options: CompactionOptions | false = {},
  driver: ModelDriver | LoopDriver,
): Compaction | undefined {
  if (options === false) return undefined;
  const { hint = 0.65, threshold = 0.8, contextSize, count = estimate } = options;
  const { automatic = true, model, instructions, background } = options;
  for (const [name, share] of Object.entries({ hint, threshold })) {
    if (!(share > 0 && share <= 1)) {
      throw new OptionError(`compaction.${name} is ${share}; it must be a part of the context, above 0 and at most 1.`);
    }
  }
  checkPositive({ "compaction.contextSize": contextSize });
  return compactionFor(driver, { hint, threshold, count, automatic, model, instructions, background }, contextSize);
}
