import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import type { FilePart, ProviderData, TextPart } from "../../conversation/message.ts";
import { ModelError, type ModelRequest, type PromptMessage, type ToolSchema } from "../model.ts";

type AssistantContent = Extract<LanguageModelV4Message, { role: "assistant" }>["content"];

/** A request in the words of the AI SDK, without its signal. What it holds is shared between requests: read only. */
export function callOptions(request: ModelRequest): LanguageModelV4CallOptions {
  const { settings } = request;
  const prompt: LanguageModelV4Message[] = [];
  if (request.instructions) prompt.push({ role: "system", content: request.instructions });
  for (const message of request.messages) for (const encoded of encodedOnce(message)) prompt.push(encoded);
  return {
    prompt,
    ...(request.tools.length > 0 && { tools: toolsOnce(request.tools), toolChoice: { type: request.toolChoice } }),
    ...(settings.temperature !== undefined && { temperature: settings.temperature }),
    ...(settings.maxTokens !== undefined && { maxOutputTokens: settings.maxTokens }),
    ...(settings.stop && { stopSequences: [...settings.stop] }),
    ...(settings.effort && { reasoning: settings.effort }),
    ...(settings.providerOptions && { providerOptions: options(settings.providerOptions) }),
  };
}

const messages = new WeakMap<PromptMessage, readonly LanguageModelV4Message[]>();
const tools = new WeakMap<readonly ToolSchema[], LanguageModelV4FunctionTool[]>();

function encodedOnce(message: PromptMessage): readonly LanguageModelV4Message[] {
  let encoded = messages.get(message);
  if (!encoded) {
    encoded = encode(message);
    messages.set(message, encoded);
  }
  return encoded;
}

function toolsOnce(schemas: readonly ToolSchema[]): LanguageModelV4FunctionTool[] {
  let encoded = tools.get(schemas);
  if (!encoded) {
    encoded = schemas.map(({ name, description, input }) => ({
      type: "function",
      name,
      description,
      inputSchema: input as LanguageModelV4FunctionTool["inputSchema"],
    }));
    tools.set(schemas, encoded);
  }
  return encoded;
}

/** A message of the conversation as one or two of the AI SDK: an assistant's results follow in a message of their own. */
function encode(message: PromptMessage): LanguageModelV4Message[] {
  if (message.role === "user") {
    const content = message.parts.filter(says).map((part) => (part.type === "text" ? text(part) : file(part)));
    return content.length > 0 ? [{ role: "user", content }] : [];
  }
  const content: AssistantContent = [];
  for (const part of message.parts) {
    if (part.type === "call") {
      content.push({
        type: "tool-call",
        toolCallId: part.id,
        toolName: part.tool,
        input: part.input,
        ...marks(part.provider),
      });
    } else if (says(part)) {
      content.push({ type: part.type, text: part.text, ...marks(part.provider) });
    }
  }
  const results = message.results.map(
    ({ call, tool, output, failed }): LanguageModelV4ToolResultPart => ({
      type: "tool-result",
      toolCallId: call,
      toolName: tool,
      output: { type: failed ? "error-text" : "text", value: output },
    }),
  );
  const encoded: LanguageModelV4Message[] = [];
  if (content.length > 0) encoded.push({ role: "assistant", content });
  if (results.length > 0) encoded.push({ role: "tool", content: results });
  return encoded;
}

/** Providers refuse empty texts; one that carries a signature or an id is not empty to its provider. */
function says(part: { readonly type: string; readonly text?: string; readonly provider?: ProviderData }): boolean {
  return part.type === "file" || part.text !== "" || part.provider !== undefined;
}

function text(part: TextPart): LanguageModelV4TextPart {
  return { type: "text", text: part.text, ...marks(part.provider) };
}

function file(part: FilePart): LanguageModelV4FilePart {
  const name = part.name ?? "without a name";
  const about = { type: "file", mediaType: part.mediaType, ...(part.name && { filename: part.name }) } as const;
  if (part.data !== undefined) return { ...about, data: { type: "data", data: part.data } };
  if (part.url === undefined)
    throw new ModelError("invalid-request", `The file ${name} has neither bytes nor an address.`);
  if (URL.canParse(part.url)) return { ...about, data: { type: "url", url: new URL(part.url) } };
  throw new ModelError("invalid-request", `The file ${name} has an address that is none: ${part.url.slice(0, 100)}`);
}

function marks(provider: ProviderData | undefined): { providerOptions?: SharedV4ProviderOptions } {
  return provider ? { providerOptions: options(provider) } : {};
}

/** Both are JSON objects under the names of providers; the AI SDK's type only lacks `readonly`. */
function options(provider: ProviderData): SharedV4ProviderOptions {
  return provider as SharedV4ProviderOptions;
}
