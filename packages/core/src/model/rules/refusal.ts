import type { ModelError, ModelRequest, PromptMessage } from "../../ports/model.ts";
import { picturesOf } from "./messages.ts";

/** A part of a request that a provider's refusal names. */
export type RefusedPart =
  | "output"
  | "pictures"
  /** Reasoning, and parts with a signature or id that belongs to reasoning. */
  | { readonly reasoning: readonly object[] }
  | { readonly parameter: string; readonly setting: OptionalSetting | undefined };

const REASONING =
  /encrypted[_ ]content|thought[_ ]?signature|\bsignature\b[^.]{0,80}\b(thinking|reasoning)|\b(thinking|reasoning)\b[^.]{0,80}\bsignature|(invalid|expired|unverifiable)[^.]{0,40}\bsignature\b|`(redacted_)?thinking` blocks?[^.]{0,80}(cannot be modified|must remain)|reasoning\b[^.]{0,20}\bprovided without its required|without its required \W?reasoning|reasoning (input )?items can only be|item with id \W?rs_/i;

const PICTURE =
  /(could not|cannot|can't|failed to|unable to|does not|doesn't) (be )?(process|decode|read|load|download|identify|support|accept)\w*[^.]{0,40}\b(images?|pictures?|vision|image_url)\b|\b(images?|image_url)\b[^.]{0,120}\b(not supported|unsupported|invalid|corrupt\w*|exceeds?|too (large|big|many)|dimensions?|not valid|malformed)|(invalid|unsupported|corrupt\w*|too many|malformed|not a valid|unknown variant)[^.]{0,40}\b(images?|image_url|image data)\b/i;

/** Names of the field with the schema of a result, and what servers call its feature. */
const OUTPUT =
  /response[_ ]?format|json[_ ]?(schema|mode)|output_(config\.)?format|text\.format|response_?(mime_?type|(json_?)?schema)|response mime type|structured[_ ]outputs?|grammar|invalid format\b/i;

/** Words before it: "Unsupported parameter: 'x'", "unknown field `x`", `"extra_forbidden","loc":["body","x"]`. */
const NOUN = "(\\w+\\W+){0,2}(parameter|argument|field|key|option|setting|property|body)s?\\b.{0,20}?\\W";
const BEFORE = `((unsupported|unknown|unrecogni[sz]ed|unexpected|extra_forbidden|not supported|does(n't| not) support)\\W+(${NOUN})?|invalid\\W+${NOUN})`;
/** Words after the name: "'x' is not supported with this model", "x: Extra inputs are not permitted". */
const BEHIND =
  "\\W+(\\w+\\W+){0,4}(unsupported|not supported|not implemented|deprecated|no longer|extra inputs|(not|n't) (be )?(permitted|allowed|accepted|available|support))";

/** Settings that can be left out, because a response without them is still right. Others are never left out. */
export type OptionalSetting = "temperature" | "maxTokens" | "effort" | "cacheKey";

/** Providers' names for our settings. */
const PARAMETERS: readonly (readonly [setting: OptionalSetting, names: readonly string[]])[] = [
  ["temperature", ["temperature"]],
  ["cacheKey", ["prompt_cache_key", "promptCacheKey"]],
  ["maxTokens", ["max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens"]],
  [
    "effort",
    [
      "reasoning_effort",
      "reasoning.effort",
      "reasoning",
      "thinking",
      "effort",
      "thinkingConfig",
      "thinking_config",
      "thinkingLevel",
      "thinking_level",
      "output_config",
    ],
  ],
];

/** Returns the part of a request that a provider refused. `own`: parameters that the driver itself adds to requests. */
export function refusedPart(
  error: ModelError,
  request: ModelRequest,
  own: readonly string[] = [],
): RefusedPart | undefined {
  const { code, status } = error;
  const words = `${error.message}\n${error.detail ?? ""}`;
  // Local servers report a schema that they cannot enforce as a fault of their own.
  const hasFailed = code === "invalid-request" || (code === "provider" && status !== undefined);
  if (hasFailed && request.output !== undefined && OUTPUT.test(words)) return "output";
  if (code !== "invalid-request" || (status !== undefined && status !== 400 && status !== 422)) return undefined;
  const reasoning = REASONING.test(words) ? request.messages.flatMap(reasoningParts) : [];
  if (reasoning.length > 0) return { reasoning };
  const parameter = parametersOf(request, own).find((name) => refusesParameter(words, name));
  if (parameter !== undefined) return { parameter, setting: settingOf(parameter) };
  return PICTURE.test(words) && request.messages.some((message) => picturesOf(message).length > 0)
    ? "pictures"
    : undefined;
}

/** Returns those parts of a response that are reasoning, or that have a signature or id of reasoning. */
function reasoningParts(message: PromptMessage): readonly object[] {
  if (message.role === "user") return [];
  return message.parts.filter(
    (part) => part.type === "reasoning" || (part.type !== "provider" && part.provider !== undefined),
  );
}

function parametersOf({ settings }: ModelRequest, own: readonly string[]): string[] {
  const set = PARAMETERS.flatMap(([setting, sent]) => (settings[setting] === undefined ? [] : sent));
  const options = Object.values(settings.providerOptions ?? {}).flatMap(Object.entries);
  const left = new Set(options.flatMap(([name, value]) => (value === null ? [name] : [])));
  return [...own, ...options.map(([name]) => name), ...set].filter((name) => !left.has(name));
}

/** True if a text states, in any usual spelling, that the provider does not know a parameter. */
function refusesParameter(text: string, name: string): boolean {
  const spelled = name.replace(/([a-z])([A-Z])/g, "$1_$2").toLowerCase();
  return [name, spelled].some((one) => {
    const word = `(?<![\\w.-])${one.replace(/[^\w]/g, "\\$&")}(?![\\w-])`;
    return new RegExp(`${BEFORE}${word}|${word}${BEHIND}`, "i").test(text);
  });
}

function settingOf(parameter: string): OptionalSetting | undefined {
  return PARAMETERS.find(([, sent]) => sent.includes(parameter))?.[0];
}
