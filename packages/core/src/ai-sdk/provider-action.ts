import type {
  LanguageModelV4CustomContent,
  LanguageModelV4CustomPart,
  LanguageModelV4ToolCall,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResult,
  LanguageModelV4ToolResultPart,
} from "@ai-sdk/provider";
import type { Json } from "../conversation/part.ts";
import { cutTo } from "../conversation/shown/visible-text.ts";

/**
 * An action that a provider ran itself, such as a web search, in the form in which later requests contain it. See
 * {@link providedCall}.
 */
export interface ProviderAction {
  readonly text: string;
  readonly part: Json;
}

/** UTF-16 units of the arguments in the description. */
const SHOWN = 200;

/**
 * Keeps a call of a tool that the provider ran itself.
 * @example providedCall({ type: "tool-call", toolCallId: "1", toolName: "web_search", input: '{"query":"oak"}' }).part
 */
export function providedCall(call: LanguageModelV4ToolCall): ProviderAction {
  const { toolCallId, toolName, input, providerMetadata } = call;
  const part: LanguageModelV4ToolCallPart = {
    type: "tool-call",
    toolCallId,
    toolName,
    input: parseInput(input),
    providerExecuted: true,
    ...(providerMetadata && { providerOptions: providerMetadata }),
  };
  return { text: `${toolName} ${cutTo(input, SHOWN)}`, part: withoutUndefined(part) };
}

/**
 * Keeps the result of a call that the provider ran itself.
 * @example
 * const result = { type: "tool-result", toolCallId: "1", toolName: "web_search", result: { pages: 3 } } as const;
 * providedResult(result).text // "web_search answered"
 */
export function providedResult(result: LanguageModelV4ToolResult): ProviderAction {
  const { toolCallId, toolName, isError = false, providerMetadata } = result;
  const part: LanguageModelV4ToolResultPart = {
    type: "tool-result",
    toolCallId,
    toolName,
    output: { type: isError ? "error-json" : "json", value: result.result },
    ...(providerMetadata && { providerOptions: providerMetadata }),
  };
  return { text: `${toolName} ${isError ? "failed" : "answered"}`, part: withoutUndefined(part) };
}

/**
 * Keeps content in the provider's own form, such as a compacted conversation.
 * @example providedContent({ type: "custom", kind: "openai.compaction" }).text // "openai.compaction"
 */
export function providedContent({ kind, providerMetadata }: LanguageModelV4CustomContent): ProviderAction {
  const part: LanguageModelV4CustomPart = {
    type: "custom",
    kind,
    ...(providerMetadata && { providerOptions: providerMetadata }),
  };
  return { text: kind, part: withoutUndefined(part) };
}

function parseInput(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch {
    // A provider may write the arguments of its own calls in any form.
    return input;
  }
}

/** The log stores JSON, so fields with `undefined` would be lost there. */
function withoutUndefined(part: object): Json {
  return JSON.parse(JSON.stringify(part)) as Json;
}
