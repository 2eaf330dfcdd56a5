import { isLanguageModel, notALanguageModel } from "../ai-sdk/language-model.ts";
import { OptionError, type OptionNames, refuseUnknown } from "../conversation/option-names.ts";
import { isJsonRecord, shownKind } from "../conversation/shape-problem.ts";
import { nearestNameAdvice } from "../conversation/shown/nearest.ts";
import { ToolDefinitionError } from "../ports/define-tool.ts";
import type { Goal, GoalCheck } from "../ports/goal.ts";
import type { Guards } from "../ports/guards.ts";
import type { CallHooks } from "../ports/human.ts";
import { efforts, type ModelSettings, settingNames } from "../ports/model.ts";
import { RateLimit } from "../ports/rate-limit.ts";
import type { Limits } from "../run/limits.ts";
import type { Callbacks, RetrySettings, TurnAgent } from "../run/run.ts";
import { checkTool } from "../toolbox/check-tool.ts";
import { Toolbox } from "../toolbox/toolbox.ts";
import { schemaProblem } from "../toolbox/usable-schema.ts";
import { checkLimits } from "../turn/turn.ts";
import type { CompactionOptions, TurnOptions } from "./turn-options.ts";

const AGENT: OptionNames<TurnOptions & { onTurn?: () => unknown }> = {
  name: "string",
  description: "string",
  model: true,
  modelNamed: "function",
  fallbacks: true,
  instructions: "string",
  tools: true,
  toolChoice: true,
  context: true,
  toolsFor: "function",
  settings: true,
  limits: true,
  rateLimit: true,
  retry: true,
  bounds: true,
  mode: true,
  output: true,
  goal: true,
  unattended: "boolean",
  hooks: true,
  guards: true,
  compaction: true,
  storeText: "function",
  memory: true,
  permission: "function",
  callsAtOnce: "number",
  callbacks: true,
  onTurn: "function",
};
const LIMITS: OptionNames<Limits> = {
  steps: "number",
  tokens: "number",
  cost: "number",
  time: "number",
  depth: "number",
  repeats: "number",
  policy: true,
};
const RETRY: OptionNames<RetrySettings> = {
  attempts: "number",
  time: "number",
  delay: "number",
  maxDelay: "number",
  idle: "number",
  results: "number",
};
const BOUNDS: OptionNames<NonNullable<TurnOptions["bounds"]>> = { answer: "number", arguments: "number" };
const COMPACTION: OptionNames<CompactionOptions> = {
  hint: "number",
  threshold: "number",
  contextSize: "number",
  count: "function",
  automatic: "boolean",
  model: "string",
  instructions: "string",
  background: "boolean",
};
const MEMORY: OptionNames<NonNullable<TurnOptions["memory"]>> = {
  store: true,
  limit: "number",
  timeout: "number",
  cite: "boolean",
};
const HOOKS: OptionNames<CallHooks> = {
  beforeCall: "function",
  beforeQuestion: "function",
  afterCall: "function",
  beforeSummary: "function",
};
const GUARDS: OptionNames<Guards> = { input: "function", output: "function", hold: "boolean" };
const GOAL: OptionNames<Goal> = { checks: true, failures: "number", asked: true };
const GOAL_CHECK: OptionNames<GoalCheck> = { what: "string!", last: "boolean", begin: "function", run: "function!" };
const CALLBACKS: OptionNames<Callbacks> = {
  awaited: "boolean",
  onMessage: "function",
  onCalls: "function",
  onCall: "function",
  onInterjection: "function",
  onAnswer: "function",
  onModelError: "function",
};

/** Checks options of an agent for its constructor. Throws `OptionError` and `ToolDefinitionError`. */
export function checkAgentOptions(options: TurnOptions): void {
  refuseUnknown("an agent", options, AGENT);
  checkModelOption(options?.model);
  const { model, modelNamed, fallbacks = [], tools, output, settings, limits, rateLimit, retry, bounds } = options;
  const { compaction, memory, callbacks, hooks, guards } = options;
  if (!Array.isArray(fallbacks) || fallbacks.some((name) => typeof name !== "string")) {
    throw new OptionError('fallbacks are a list of names of models, such as ["openai/gpt-5"].');
  }
  if (fallbacks.length > 0 && !modelNamed) {
    throw new OptionError("fallbacks are names: give modelNamed as well, which finds the model of each.");
  }
  if (compaction && compaction.model !== undefined && !modelNamed) {
    throw new OptionError("compaction.model is a name: give modelNamed as well, which finds the model of it.");
  }
  checkOptionNames(settings, settingNames, "settings.");
  checkOptionNames(limits, LIMITS, "limits.");
  if (rateLimit !== undefined && !(rateLimit instanceof RateLimit))
    throw new OptionError("rateLimit must be a RateLimit: new RateLimit({ requestsPerMinute: 50 }).");
  checkOptionNames(retry, RETRY, "retry.");
  checkOptionNames(bounds, BOUNDS, "bounds.");
  if (compaction !== false) checkOptionNames(compaction, COMPACTION, "compaction.");
  checkOptionNames(callbacks, CALLBACKS, "callbacks.");
  checkOptionNames(hooks, HOOKS, "hooks.");
  checkOptionNames(guards, GUARDS, "guards.");
  if (options.goal !== undefined) checkGoal(options.goal);
  if (guards?.output && "run" in model)
    throw new OptionError(`${model.id} runs whole turns itself, so guards.output cannot check its responses.`);
  if (tools !== undefined && !Array.isArray(tools)) {
    throw new OptionError("The tools of an agent must be an array: tools: [...].");
  }
  if (tools && tools.length > 0) Toolbox.of(tools, checkTool);
  const isSchema =
    (isJsonRecord(output) && !(output instanceof Promise)) || (typeof output === "function" && "~standard" in output);
  if (output !== undefined && !isSchema)
    throw new OptionError(
      `output must be a schema, such as z.object({ city: z.string() }) or a JSON Schema, not ${shownKind(output)}.`,
    );
  const problem = output && !("~standard" in output) ? schemaProblem(output) : undefined;
  if (problem !== undefined) throw new ToolDefinitionError(`The schema "output" cannot be used: ${problem}.`);
  if (memory === undefined) return;
  checkOptionNames(memory, MEMORY, "memory.");
  const { recall, remember } = (memory.store ?? {}) as { readonly recall?: unknown; readonly remember?: unknown };
  if (typeof recall !== "function" || typeof remember !== "function") {
    throw new OptionError(
      "memory.store is no memory: it needs the functions recall and remember, as sqliteMemory() of @banyan/memory makes.",
    );
  }
}

function checkOptionNames(
  options: object | undefined,
  names: Readonly<Record<string, true | string>>,
  within: string,
): void {
  if (options !== undefined) refuseUnknown("an agent", options, names, within);
}

function checkGoal(goal: Goal): void {
  refuseUnknown("an agent", goal, GOAL, "goal.");
  if (!Array.isArray(goal.checks) || goal.checks.length === 0)
    throw new OptionError("goal.checks must be a list with at least one check: { what, run }.");
  for (const [index, check] of goal.checks.entries()) {
    refuseUnknown("an agent", check, GOAL_CHECK, `goal.checks[${index}].`);
  }
}

/** Checks the values of options before the first turn of an agent. Throws `OptionError` or `LimitError`. */
export function checkValues({
  settings = {},
  limits = {},
  memory,
  retry = {},
  bounds = {},
  callsAtOnce,
  goal,
}: TurnOptions): void {
  checkSettings(settings);
  checkLimits(limits);
  const { attempts, time, delay, maxDelay, idle, results } = retry;
  checkPositive({ "memory.timeout": memory?.timeout, "retry.time": time, "retry.delay": delay });
  checkPositive({ "retry.maxDelay": maxDelay, "retry.idle": idle });
  checkCounts({ "memory.limit": memory?.limit, "retry.attempts": attempts, callsAtOnce });
  checkCounts({ "retry.results": results, "goal.failures": goal?.failures });
  checkCounts({ "bounds.answer": bounds.answer, "bounds.arguments": bounds.arguments });
}

type Numbers = Readonly<Record<string, number | undefined>>;

/** Throws `OptionError` for a value that is not a number above 0. */
export function checkPositive(options: Numbers): void {
  for (const [name, value] of Object.entries(options))
    if (value !== undefined && !(value > 0))
      throw new OptionError(`${name} is ${value}; it must be a positive number.`);
}

/** Throws `OptionError` for a count that is not a positive whole number. `Infinity` means no bound. */
function checkCounts(options: Numbers): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || value === Number.POSITIVE_INFINITY || (Number.isInteger(value) && value > 0)) continue;
    throw new OptionError(`${name} is ${value}; it must be a positive whole number.`);
  }
}

/** Throws `OptionError` for a `toolChoice` that the agent cannot carry out. */
export function checkToolChoice(
  { toolChoice = "auto", toolsFor }: TurnOptions,
  { model, toolbox, mode }: Pick<TurnAgent, "model" | "toolbox" | "mode">,
): void {
  if (toolsFor && "run" in model) {
    throw new OptionError(`${model.id} runs its own turns and chooses its tools itself; leave out toolsFor.`);
  }
  if (toolChoice === "auto") return;
  const shown = `toolChoice is ${JSON.stringify(toolChoice)}`;
  if ("run" in model) {
    throw new OptionError(`${shown}, but ${model.id} runs its own turns and chooses its tools itself; leave it out.`);
  }
  if (toolChoice === "none") {
    if (mode.name === "chat") return;
    throw new OptionError(
      `${shown}, but a task ends only with a call of finish_task; leave it out, or use mode "chat".`,
    );
  }
  const names = toolbox.schemas.map(({ name }) => name);
  const { tool } = (toolChoice === "required" ? {} : (toolChoice ?? {})) as { readonly tool?: unknown };
  if (toolChoice !== "required" && typeof tool !== "string") {
    throw new OptionError(`${shown}; it must be "auto", "none", "required" or the name of a tool: { tool: "search" }.`);
  }
  if (names.length === 0)
    throw new OptionError(`${shown}, but the agent has no tools; give it tools, or leave it out.`);
  if (typeof tool === "string" && !names.includes(tool)) {
    throw new OptionError(`${shown}, but the agent has no tool "${tool}". ${nearestNameAdvice(tool, names)}`);
  }
}

function checkModelOption(given: unknown): void {
  if (!given) throw new OptionError("An agent needs a model: new Agent({ model }).");
  if (isLanguageModel(given)) return;
  if (typeof given === "object") {
    if ("stream" in given || "run" in given) return;
    if ("specificationVersion" in given) throw new OptionError(notALanguageModel(given));
  }
  const what =
    given instanceof Promise ? "a promise: await it" : typeof given === "string" ? "a name" : `of type ${typeof given}`;
  throw new OptionError(
    `The model of an agent must be a driver, such as resolveModel("provider/model") of @banyan/models returns, or a model of an AI SDK package. The given model is ${what}.`,
  );
}

function checkSettings({ temperature, topP, seed, stop, maxTokens, effort }: ModelSettings): void {
  if (temperature !== undefined && !(temperature >= 0 && temperature <= 2)) {
    throw new OptionError(`settings.temperature is ${temperature}; it must be a number from 0 to 2.`);
  }
  if (topP !== undefined && !(topP >= 0 && topP <= 1)) {
    throw new OptionError(`settings.topP is ${topP}; it must be a number from 0 to 1.`);
  }
  if (seed !== undefined && !Number.isSafeInteger(seed)) {
    throw new OptionError(`settings.seed is ${seed}; it must be a whole number.`);
  }
  if (stop?.some((text) => typeof text !== "string" || text === "")) {
    throw new OptionError(`settings.stop is ${JSON.stringify(stop)}; it must be a list of texts, such as ["END"].`);
  }
  if (maxTokens !== undefined && !(Number.isInteger(maxTokens) && maxTokens > 0)) {
    throw new OptionError(`settings.maxTokens is ${maxTokens}; it must be a positive whole number.`);
  }
  if (effort !== undefined && !efforts.includes(effort)) {
    const names = efforts.map((name) => `"${name}"`).join(", ");
    throw new OptionError(`settings.effort is ${JSON.stringify(effort)}; it must be one of ${names}.`);
  }
}
