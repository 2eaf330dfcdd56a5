import type { FilePart, Json, ModelRequest, ModelSettings, PromptMessage, TextPart, ToolSchema } from "@banyan/core";

/** What of a driver shapes its requests. */
export interface RequestShape {
  readonly model: string;
  /** The name under which `providerOptions` are meant for this driver. */
  readonly provider: string;
  readonly maxTokensField: "max_tokens" | "max_completion_tokens";
}

// Messages and tool lists never change, so that their texts hold for as long as they live, whichever driver asks.
const messageTexts = new WeakMap<PromptMessage, string>();
const toolsTexts = new WeakMap<readonly ToolSchema[], string>();

/**
 * The body of a request in the chat completions format (https://platform.openai.com/docs/api-reference/chat/create).
 * Each message is encoded the first time that it is seen; after that its text is joined in.
 */
export function encodeRequest(shape: RequestShape, request: ModelRequest): string {
  const messages = request.messages.map(messageText);
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

function messageText(message: PromptMessage): string {
  let text = messageTexts.get(message);
  if (text === undefined) {
    text = message.role === "user" ? userText(message.parts) : assistantText(message);
    messageTexts.set(message, text);
  }
  return text;
}

/** Text alone goes as one string: every server takes that, while lists of parts are not known everywhere. */
function userText(parts: readonly (TextPart | FilePart)[]): string {
  const content = parts.every((part) => part.type === "text")
    ? parts.map((part) => part.text).join("\n\n")
    : parts.map(userPart);
  return JSON.stringify({ role: "user", content });
}

function userPart(part: TextPart | FilePart): Json {
  if (part.type === "text") return { type: "text", text: part.text };
  const url = part.data === undefined ? (part.url ?? "") : `data:${part.mediaType};base64,${part.data}`;
  if (part.mediaType.startsWith("image/")) return { type: "image_url", image_url: { url } };
  return { type: "file", file: { filename: part.name ?? "file", file_data: url } };
}

/** The answer and the results of its calls. Reasoning stays out: the format has no place for it, and servers refuse it. */
function assistantText({ parts, results }: Extract<PromptMessage, { role: "assistant" }>): string {
  let content = "";
  const calls: Json[] = [];
  for (const part of parts) {
    if (part.type === "text") content += part.text;
    else if (part.type === "call") {
      calls.push({
        id: part.id,
        type: "function",
        function: { name: part.tool, arguments: JSON.stringify(part.input) },
      });
    }
  }
  const answer =
    calls.length === 0
      ? { role: "assistant", content }
      : { role: "assistant", content: content === "" ? null : content, tool_calls: calls };
  const texts = [JSON.stringify(answer)];
  for (const result of results) {
    texts.push(JSON.stringify({ role: "tool", tool_call_id: result.call, content: result.output }));
  }
  return texts.join(",");
}
