import type { ModelRequest } from "@banyan/core/drivers";
import { CACHE_MARK } from "../families/anthropic.ts";

/** Known models by name, with the maximum tokens of a response. Each request must name a number. */
const MOST_TOKENS: readonly (readonly [name: RegExp, tokens: number])[] = [
  [/claude-((sonnet|opus|fable)-5|haiku-5-5|opus-4-[678]|sonnet-4-6)/, 128_000],
  [/claude-(haiku-4-5|opus-4-5|sonnet-4[-@])/, 64_000],
  [/claude-opus-4[-@]/, 32_000],
  [/claude-3-haiku/, 4_096],
];

/** The maximum for models of other makers, unless the settings name a number. */
const OTHERS_MOST_TOKENS = 4_096;

/** Known models that can write calls by their schemas. Requests with tools then name this beta. */
const STRUCTURED = /claude-((sonnet|opus|fable)-5|haiku-5-5|(sonnet|opus|haiku)-4-[56]|opus-4-[178])/;
const STRUCTURED_BETA = "structured-outputs-2025-11-13";

/** Known models that take no temperature, and known models that refuse a forced call. */
const UNSAMPLED = /claude-((sonnet|opus|fable|haiku)-5|opus-4-[78])/;
const UNFORCED = /claude-((sonnet|opus)-5-5|fable-5-[12])/;

/** All fields of a request except `messages`, and the Anthropic betas that the request needs. */
interface PlainHead {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly betas: readonly string[];
}

/**
 * Returns the same fields that the provider's package would write. Returns `undefined` for rare settings and for
 * unknown models of Anthropic, whose fields only the package knows.
 */
export function plainHead(model: string, request: ModelRequest): PlainHead | undefined {
  const { settings, instructions, tools, toolChoice, output } = request;
  const { temperature, topP, seed, maxTokens, stop = [], effort, providerOptions } = settings;
  const known = MOST_TOKENS.find(([name]) => name.test(model))?.[1];
  if (known === undefined ? model.includes("claude") : (maxTokens ?? 0) > known) return undefined;
  if ((output ?? topP ?? seed ?? effort ?? providerOptions?.anthropic) !== undefined) return undefined;
  if (temperature !== undefined && (temperature > 1 || UNSAMPLED.test(model))) return undefined;
  const isForced = toolChoice !== "auto" && toolChoice !== "none";
  if (isForced && UNFORCED.test(model)) return undefined;
  const marked = { cache_control: CACHE_MARK };
  const fields = {
    model,
    max_tokens: maxTokens ?? known ?? OTHERS_MOST_TOKENS,
    temperature,
    ...(stop.length > 0 && { stop_sequences: stop }),
    // Anthropic caches tools together with the system prompt after them.
    ...(instructions !== "" && { system: [{ type: "text", text: instructions, ...marked }] }),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, input }, index) => ({
        name,
        description,
        input_schema: input,
        ...(instructions === "" && index === tools.length - 1 && marked),
        eager_input_streaming: true,
      })),
      tool_choice: encodedChoice(toolChoice),
    }),
    stream: true,
  };
  return { fields, betas: tools.length > 0 && STRUCTURED.test(model) ? [STRUCTURED_BETA] : [] };
}

function encodedChoice(choice: ModelRequest["toolChoice"]): Readonly<Record<string, string>> {
  if (typeof choice === "object") return { type: "tool", name: choice.tool };
  return { type: choice === "required" ? "any" : choice };
}
