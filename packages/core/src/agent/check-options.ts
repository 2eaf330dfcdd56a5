import { isLanguageModel, refusal } from "../ai-sdk/language-model.ts";
import { nearest } from "../conversation/shown/nearest.ts";
import type { ModelSettings } from "../ports/model.ts";
import { checkLimits, type Limits } from "../run/limits.ts";
import type { Callbacks, RetrySettings } from "../run/run.ts";
import { checkTool } from "../toolbox/check-tool.ts";
import { Toolbox, ToolDefinitionError } from "../toolbox/toolbox.ts";
import { schemaProblem } from "../toolbox/usable-schema.ts";
import type { AgentOptions, CompactionOptions } from "./agent.ts";

/** An option that no agent can have. */
export class AgentError extends Error {
  override readonly name = "AgentError";
  readonly code = "invalid-option";
}

/** All names of some options: the compiler knows when one is missing. */
type Names<Options> = { readonly [Name in keyof Required<Options>]: true };

const AGENT: Names<AgentOptions> = {
  name: true,
  model: true,
  modelNamed: true,
  fallbacks: true,
  instructions: true,
  tools: true,
  settings: true,
  limits: true,
  retry: true,
  bounds: true,
  mode: true,
  output: true,
  unattended: true,
  hooks: true,
  compaction: true,
  memory: true,
  permission: true,
  callsAtOnce: true,
  callbacks: true,
  onTurn: true,
};
const SETTINGS: Names<ModelSettings> = {
  temperature: true,
  maxTokens: true,
  stop: true,
  effort: true,
  providerOptions: true,
  serverTools: true,
};
const LIMITS: Names<Limits> = {
  steps: true,
  tokens: true,
  cost: true,
  time: true,
  depth: true,
  repeats: true,
  policy: true,
};
const RETRY: Names<RetrySettings> = { attempts: true, time: true, delay: true, maxDelay: true, idle: true };
const BOUNDS: Names<NonNullable<AgentOptions["bounds"]>> = { answer: true, arguments: true };
const COMPACTION: Names<CompactionOptions> = { hint: true, threshold: true, contextSize: true, count: true };
const MEMORY: Names<NonNullable<AgentOptions["memory"]>> = { store: true, limit: true, timeout: true };
const CALLBACKS: Names<Callbacks> = {
  awaited: true,
  onMessage: true,
  onCalls: true,
  onCall: true,
  onInterjection: true,
  onAnswer: true,
  onModelError: true,
};

/**
 * Checks what can be known when an agent is made: names of options, that the model is a model and the memory a memory, and
 * that tools and schemas can be used. Throws `AgentError` and `ToolDefinitionError`.
 */
export function checkOptions(options: AgentOptions): void {
  checkNames("", options, AGENT);
  const { model, modelNamed, fallbacks = [], tools, output, settings, limits, retry, bounds } = options;
  const { compaction, memory, callbacks } = options;
  checkModel(model);
  if (!Array.isArray(fallbacks) || fallbacks.some((name) => typeof name !== "string")) {
    throw new AgentError('fallbacks are a list of names of models, such as ["openai/gpt-5"].');
  }
  if (fallbacks.length > 0 && !modelNamed) {
    throw new AgentError("fallbacks are names: give modelNamed as well, which finds the model of each.");
  }
  if (settings) checkNames("settings.", settings, SETTINGS);
  if (limits) checkNames("limits.", limits, LIMITS);
  if (retry) checkNames("retry.", retry, RETRY);
  if (bounds) checkNames("bounds.", bounds, BOUNDS);
  if (compaction) checkNames("compaction.", compaction, COMPACTION);
  if (callbacks) checkNames("callbacks.", callbacks, CALLBACKS);
  if (tools !== undefined && !Array.isArray(tools)) {
    throw new AgentError("The tools of an agent are a list: tools: [...].");
  }
  // Made once for a list: a second agent with the same one costs nothing.
  if (tools) Toolbox.of(tools, checkTool);
  const problem = output && !("~standard" in output) ? schemaProblem(output) : undefined;
  if (problem !== undefined) throw new ToolDefinitionError(`The schema "output" cannot be used: ${problem}.`);
  if (!memory) return;
  checkNames("memory.", memory, MEMORY);
  const { recall, remember } = (memory.store ?? {}) as { readonly recall?: unknown; readonly remember?: unknown };
  if (typeof recall !== "function" || typeof remember !== "function") {
    throw new AgentError(
      "memory.store is no memory: it needs the functions recall and remember, as sqliteMemory() of @banyan/memory makes.",
    );
  }
}

/** What is checked when an agent first takes a turn: what its options are set to. Throws `AgentError` or `LimitError`. */
export function checkValues({
  settings = {},
  limits = {},
  memory,
  retry = {},
  bounds = {},
  callsAtOnce,
}: AgentOptions): void {
  checkSettings(settings);
  checkLimits(limits);
  const { attempts, time, delay, maxDelay, idle } = retry;
  checkPositive({ "memory.timeout": memory?.timeout, "retry.time": time, "retry.delay": delay });
  checkPositive({ "retry.maxDelay": maxDelay, "retry.idle": idle });
  checkCounts({ "memory.limit": memory?.limit, "retry.attempts": attempts, callsAtOnce });
  checkCounts({ "bounds.answer": bounds.answer, "bounds.arguments": bounds.arguments });
}

type Numbers = Readonly<Record<string, number | undefined>>;

/** Throws `AgentError` for what is not a number above 0. */
export function checkPositive(options: Numbers): void {
  for (const [name, value] of Object.entries(options))
    if (value !== undefined && !(value > 0)) throw new AgentError(`${name} is ${value}; it must be a positive number.`);
}

/** The same for counts, which must be whole numbers. `Infinity` means no bound. */
function checkCounts(options: Numbers): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || value === Number.POSITIVE_INFINITY || (Number.isInteger(value) && value > 0)) continue;
    throw new AgentError(`${name} is ${value}; it must be a positive whole number.`);
  }
}

/** An unknown name would be an option without effect (B72). */
function checkNames(of: string, options: object, names: Readonly<Record<string, true>>): void {
  for (const name in options) {
    if (Object.hasOwn(names, name)) continue;
    const known = Object.keys(names);
    const near = nearest(name, known);
    const hint =
      near.length > 0 ? `did you mean ${near.map((one) => of + one).join(" or ")}?` : `there are ${known.join(", ")}.`;
    throw new AgentError(`${of}${name} is no option of an agent; ${hint}`);
  }
}

function checkModel(given: unknown): void {
  if (!given) throw new AgentError("An agent needs a model: new Agent({ model }).");
  if (isLanguageModel(given)) return;
  if (typeof given === "object") {
    if ("stream" in given || "run" in given) return;
    if ("specificationVersion" in given) throw new AgentError(refusal(given));
  }
  const what = given instanceof Promise ? "a promise: await it" : typeof given === "string" ? "a name" : typeof given;
  throw new AgentError(
    `The model of an agent is a driver, such as resolveModel("provider/model") of @banyan/models finds, or a model of an AI SDK package; this is ${what}.`,
  );
}

function checkSettings({ temperature, maxTokens }: ModelSettings): void {
  if (temperature !== undefined && !(temperature >= 0 && temperature <= 2)) {
    throw new AgentError(`settings.temperature is ${temperature}; it must be a number from 0 to 2.`);
  }
  if (maxTokens !== undefined && !(Number.isInteger(maxTokens) && maxTokens > 0)) {
    throw new AgentError(`settings.maxTokens is ${maxTokens}; it must be a positive whole number.`);
  }
}
