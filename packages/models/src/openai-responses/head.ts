import { type Json, ModelError, type ModelSettings } from "@banyan/core";
import type { ModelRequest } from "@banyan/core/drivers";
import { isJsonRecord } from "@banyan/core/shown";
import { type ModelTraits, nearestEffort } from "./model-traits.ts";
import type { ResponsesProvider } from "./provider.ts";
import { type HostedTools, snakeCase, snakeName } from "./server-tools.ts";

type Options = Readonly<Record<string, Json>>;

/** The model and the server of a driver. */
export interface ResponsesTarget {
  readonly id: string;
  readonly model: string;
  readonly provider: ResponsesProvider;
  readonly traits: ModelTraits;
  /** Media types of files that the model gets in tool results. */
  readonly takes: readonly string[];
  /** True if the server is OpenAI's own, which knows all options of streams. */
  readonly isOpenAI: boolean;
  /** True if each message needs the field `type`. */
  readonly needsType: boolean;
}

/** Options with a meaning of their own. All others become the field of the same name in snake case. */
const SPECIAL: ReadonlySet<string> = new Set([
  ...["include", "includeWebSearchSources", "logprobs", "topLogprobs"],
  ...["reasoningEffort", "reasoningSummary", "reasoningMode", "reasoningContext", "reasoningEffortUpdate"],
  ...["textVerbosity", "textFormat", "strictJsonSchema", "allowedTools", "promptCacheOptions", "contextManagement"],
  ...["systemMessageMode", "forceReasoning", "compactionTrigger", "passThroughUnsupportedFiles", "store"],
  // As options, these two would be in the body twice.
  ...["input", "tools"],
]);

/** Returns the options of a request. Azure's own options replace those for OpenAI. Options with `null` count as absent. */
export function responsesOptions({ providerOptions = {} }: ModelSettings, provider: ResponsesProvider): Options {
  const options = providerOptions[provider] ?? (provider === "azure" ? providerOptions.openai : undefined) ?? {};
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== null));
}

/** True if the model reasons, or if the user says so. */
export function isReasoning({ traits }: ResponsesTarget, options: Options): boolean {
  return options.forceReasoning === undefined ? traits.reasons : options.forceReasoning === true;
}

/**
 * Returns the fields of a request except `input` and `tools`. The server stores nothing, unless the user says so.
 * Throws `ModelError` for a setting without which the response would be wrong, if the model does not support it.
 */
export function responsesHead(
  target: ResponsesTarget,
  { settings, output }: Pick<ModelRequest, "settings" | "output">,
  hosted: HostedTools,
): Readonly<Record<string, unknown>> {
  const { provider, model } = target;
  const options = responsesOptions(settings, provider);
  const reasons = isReasoning(target, options);
  const effort = String(options.reasoningEffort ?? nearestEffort(settings.effort, target.traits) ?? "");
  const samples = !reasons || (target.traits.samples && (provider === "xai" || effort === "none"));
  refuse(target, "topP", settings.topP !== undefined && !samples);
  refuse(target, "seed", settings.seed !== undefined && provider !== "xai");
  refuse(target, "stop", settings.stop !== undefined && settings.stop.length > 0);
  const store = options.store ?? false;
  const logprobs = options.logprobs || (options.topLogprobs !== undefined && provider === "xai");
  const include = [
    ...(Array.isArray(options.include) ? options.include : []),
    ...(provider === "xai" ? [] : includedByTools(hosted, options)),
    ...(provider !== "xai" && logprobs ? ["message.output_text.logprobs"] : []),
    ...(store === false && (reasons || provider === "xai") ? ["reasoning.encrypted_content"] : []),
  ];
  return {
    model,
    temperature: samples ? settings.temperature : undefined,
    top_p: settings.topP,
    seed: settings.seed,
    max_output_tokens: settings.maxTokens,
    text: textField(options, output),
    reasoning: reasons ? reasoningField(target, options, effort) : undefined,
    store,
    include: include.length > 0 ? [...new Set(include)] : undefined,
    ...(logprobs ? logprobFields(logprobs, options, provider) : {}),
    stream_options: target.isOpenAI && !isLeftOut(settings, provider) ? { include_obfuscation: false } : undefined,
    prompt_cache_key: settings.cacheKey,
    ...otherFields(options),
    stream: true,
  };
}

/** The refused field, if a server refused `stream_options`. */
function isLeftOut({ providerOptions }: ModelSettings, provider: ResponsesProvider): boolean {
  return providerOptions?.[provider]?.stream_options === null;
}

function refuse({ id }: ResponsesTarget, setting: string, isUnsupported: boolean): void {
  if (!isUnsupported) return;
  const said = { fact: `${id} does not support ${setting}`, advice: "leave it out, or use another model" };
  throw new ModelError("invalid-request", said);
}

/** Results of server tools that the API returns only on demand. */
function includedByTools({ names }: HostedTools, { includeWebSearchSources }: Options): readonly string[] {
  const searches = names.has("web_search") || names.has("web_search_preview");
  return [
    ...(searches && includeWebSearchSources !== false ? ["web_search_call.action.sources"] : []),
    ...(names.has("code_interpreter") ? ["code_interpreter_call.outputs"] : []),
  ];
}

function textField(options: Options, output: Json | undefined): object | undefined {
  const { textFormat, strictJsonSchema: strict = true, textVerbosity: verbosity } = options;
  const schema = output === undefined ? undefined : { type: "json_schema", strict, name: "result", schema: output };
  const format = textFormat ?? schema;
  return format === undefined && verbosity === undefined ? undefined : { format, verbosity };
}

function reasoningField({ provider }: ResponsesTarget, options: Options, effort: string): object | undefined {
  if (provider === "xai") return effort === "" ? undefined : { effort };
  const summary = options.reasoningSummary ?? (effort === "" || effort === "none" ? undefined : "detailed");
  const { reasoningMode: mode, reasoningContext: context } = options;
  const field = { effort: effort === "" ? undefined : effort, summary, mode, context };
  return Object.values(field).some((value) => value !== undefined) ? field : undefined;
}

/** Maximum of `top_logprobs` at OpenAI. */
const MOST_LOGPROBS = 20;

function logprobFields(logprobs: Json, { topLogprobs }: Options, provider: ResponsesProvider): object {
  if (provider === "xai")
    return { logprobs: true, ...(topLogprobs === undefined ? {} : { top_logprobs: topLogprobs }) };
  return { top_logprobs: logprobs === true ? MOST_LOGPROBS : logprobs };
}

function otherFields(options: Options): Readonly<Record<string, unknown>> {
  const fields = Object.entries(options).filter(([name]) => !SPECIAL.has(name));
  const nested = ["promptCacheOptions", "contextManagement"].flatMap((name) =>
    options[name] === undefined ? [] : [[snakeName(name), snakeCase(options[name])]],
  );
  return Object.fromEntries([...fields.map(([name, value]) => [snakeName(name), value]), ...nested]);
}

/** Items that options add before and after the conversation. */
export function addedItems(options: Options): { readonly first: readonly object[]; readonly last: readonly object[] } {
  const { reasoningEffortUpdate: effort, compactionTrigger } = options;
  return {
    first: effort === undefined ? [] : [{ type: "configuration_update", reasoning: { effort } }],
    last: compactionTrigger === true ? [{ type: "compaction_trigger" }] : [],
  };
}

/** Returns the choice of tools that the option `allowedTools` makes. This choice replaces that of the request. */
export function allowedChoice({ allowedTools }: Options, { kinds }: HostedTools): object | undefined {
  if (!isJsonRecord<Options>(allowedTools) || !Array.isArray(allowedTools.toolNames)) return undefined;
  const tools = allowedTools.toolNames.map((tool) => {
    const name = String(tool);
    const kind = kinds.get(name);
    return kind === undefined ? { type: "function", name } : kind === "custom" ? { type: kind, name } : { type: kind };
  });
  return { type: "allowed_tools", mode: allowedTools.mode ?? "auto", tools };
}
