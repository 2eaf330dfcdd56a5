import type { ModelRequest, ModelSettings, PromptMessage, ToolSchema } from "@banyan/core";
import { encode } from "./messages.ts";

/** What of a driver shapes its requests. */
export interface RequestShape {
  readonly model: string;
  /** The name under which `providerOptions` are meant for this driver. */
  readonly provider: string;
  readonly maxTokensField: "max_tokens" | "max_completion_tokens";
}

// Messages and tool lists never change, so that their texts hold for as long as they live, whichever driver asks; only
// what a provider wants to see again is for that provider alone.
const messageTexts = new WeakMap<PromptMessage, { readonly text: string; readonly provider?: string }>();
const toolsTexts = new WeakMap<readonly ToolSchema[], string>();

/**
 * The body of a request in the chat completions format (https://platform.openai.com/docs/api-reference/chat/create).
 * Each message is encoded the first time that it is seen; after that its text is joined in.
 */
export function encodeRequest(shape: RequestShape, request: ModelRequest): string {
  const messages = request.messages.map((message) => messageText(message, shape.provider));
  if (request.instructions !== "") messages.unshift(JSON.stringify({ role: "system", content: request.instructions }));
  const head = JSON.stringify(headOf(shape, request.settings)).slice(0, -1);
  return `${head},"messages":[${messages.join(",")}]${toolsField(request)}}`;
}

function headOf(shape: RequestShape, settings: ModelSettings): Readonly<Record<string, unknown>> {
  // These two are put together from the conversation: handed in beside it, they would stand in the body twice.
  const { messages: _messages, tools: _tools, ...options } = settings.providerOptions?.[shape.provider] ?? {};
  return {
    model: shape.model,
    temperature: settings.temperature,
    [shape.maxTokensField]: settings.maxTokens,
    stop: settings.stop,
    // The format has no `max`; `high` is the most that every server knows.
    reasoning_effort: settings.effort === "max" ? "high" : settings.effort,
    stream_options: { include_usage: true },
    ...options,
    stream: true,
  };
}

function toolsField(request: ModelRequest): string {
  if (request.tools.length === 0) return "";
  let text = toolsTexts.get(request.tools);
  if (text === undefined) {
    text = JSON.stringify(
      request.tools.map(({ name, description, input }) => ({
        type: "function",
        function: { name, description, parameters: input },
      })),
    );
    toolsTexts.set(request.tools, text);
  }
  return `,"tools":${text}${request.toolChoice === "none" ? ',"tool_choice":"none"' : ""}`;
}

function messageText(message: PromptMessage, provider: string): string {
  let known = messageTexts.get(message);
  if (!known || (known.provider !== undefined && known.provider !== provider)) {
    const { messages, owned } = encode(message, provider);
    const text = messages.map((one) => JSON.stringify(one)).join(",");
    known = owned ? { text, provider } : { text };
    messageTexts.set(message, known);
  }
  return known.text;
}
