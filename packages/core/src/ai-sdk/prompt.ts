import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4TextPart,
  LanguageModelV4ToolChoice,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import { filesHeading } from "../conversation/forms/file-parts.ts";
import type { FilePart, ProviderData, TextPart } from "../conversation/part.ts";
import { encodableResult } from "../model/result-shown.ts";
import {
  ModelError,
  type ModelRequest,
  type PromptMessage,
  type PromptResult,
  type ToolChoice,
  type ToolSchema,
} from "../ports/model.ts";
import type { DemandedSetting } from "./response-parts.ts";

type LanguageModelV4Tools = NonNullable<LanguageModelV4CallOptions["tools"]>;
type Schema = LanguageModelV4FunctionTool["inputSchema"];
type AssistantContent = Extract<LanguageModelV4Message, { role: "assistant" }>["content"];

/** The provider of a request, and whether this provider accepts files in results of calls. */
export interface PromptTarget {
  /** The request leaves out actions that other providers ran. */
  readonly provider: string;
  /** Media types of files that the model accepts in results. */
  readonly takes: readonly string[];
  /** True: the files of a result are part of it. False: the files follow in a user message. */
  readonly isWithin: boolean;
}

/** Encodes a request for the AI SDK. Requests share objects, so never change the result. */
export function callOptions(request: ModelRequest, asked: PromptTarget): LanguageModelV4CallOptions {
  const { settings } = request;
  const { provider } = asked;
  const tools = encodeTools(request, provider);
  return {
    prompt: promptFor(request, asked),
    ...(tools.length > 0 && { tools, toolChoice: encodeToolChoice(request.toolChoice) }),
    ...(settings.temperature !== undefined && { temperature: settings.temperature }),
    ...(settings.topP !== undefined && { topP: settings.topP }),
    ...(settings.seed !== undefined && { seed: settings.seed }),
    ...(settings.maxTokens !== undefined && { maxOutputTokens: settings.maxTokens }),
    ...(settings.stop && settings.stop.length > 0 && { stopSequences: [...settings.stop] }),
    ...(settings.effort && { reasoning: settings.effort }),
    ...(request.output !== undefined && {
      responseFormat: { type: "json", name: "result", schema: request.output as Schema },
    }),
    ...(settings.providerOptions && { providerOptions: options(settings.providerOptions) }),
  };
}

const DEMANDED = [
  { setting: "topP", feature: "topP" },
  { setting: "seed", feature: "seed" },
  { setting: "stop", feature: "stopSequences" },
] as const;
const FORCED: DemandedSetting = { setting: "a forced call (toolChoice)", feature: "toolChoice" };

/** Returns the settings without which a response would be wrong, so that the provider must not ignore them. */
export function demandedSettings(request: LanguageModelV4CallOptions): readonly DemandedSetting[] {
  const { toolChoice } = request;
  const demanded = DEMANDED.filter(({ feature }) => request[feature] !== undefined);
  return toolChoice?.type === "required" || toolChoice?.type === "tool" ? [...demanded, FORCED] : demanded;
}

interface EncodedPrompt {
  readonly messages: readonly LanguageModelV4Message[];
  /** The only provider for which the encoding is valid. Absent: all providers. */
  readonly provider?: string;
  /** The only target for which the encoding is valid. Absent: all targets. */
  readonly asked?: PromptTarget;
  /** Ids of calls that the provider began to run, without results in the same message. */
  readonly open?: ReadonlySet<string>;
}

const encodings = new WeakMap<PromptMessage, EncodedPrompt>();
const tools = new WeakMap<readonly ToolSchema[], LanguageModelV4FunctionTool[]>();

function promptFor({ instructions, messages }: ModelRequest, asked: PromptTarget): LanguageModelV4Message[] {
  const prompt: LanguageModelV4Message[] = [];
  if (instructions) prompt.push({ role: "system", content: instructions });
  messages.forEach((message, index) => {
    const { open, messages: encoded } = encodedPromptMessage(message, asked);
    const given = open && isSetDown(messages, index, open, asked) ? withoutCalls(encoded, open) : encoded;
    for (const one of given) prompt.push(one);
  });
  return prompt;
}

function encodedPromptMessage(message: PromptMessage, asked: PromptTarget): EncodedPrompt {
  let encoded = encodings.get(message);
  if (!encoded || (encoded.asked ?? asked) !== asked || (encoded.provider ?? asked.provider) !== asked.provider) {
    encoded = encodePromptMessage(message, asked);
    encodings.set(message, encoded);
  }
  return encoded;
}

/** True if another message precedes the provider's continuation of its own calls: the calls then have no results. */
function isSetDown(
  messages: readonly PromptMessage[],
  index: number,
  open: ReadonlySet<string>,
  asked: PromptTarget,
): boolean {
  for (const later of messages.slice(index + 1)) {
    if (later.role === "user") return true;
    const resumed = encodedPromptMessage(later, asked).messages.some(
      ({ role, content }) =>
        role === "assistant" && content.some((part) => part.type === "tool-result" && open.has(part.toolCallId)),
    );
    if (resumed) return false;
  }
  return false;
}

function withoutCalls(
  encoded: readonly LanguageModelV4Message[],
  open: ReadonlySet<string>,
): readonly LanguageModelV4Message[] {
  return encoded.flatMap((message): LanguageModelV4Message[] => {
    if (message.role !== "assistant") return [message];
    const content = message.content.filter((part) => part.type !== "tool-call" || !open.has(part.toolCallId));
    return content.length === 0 ? [] : [{ ...message, content }];
  });
}

function encodeTools({ tools, settings }: ModelRequest, provider: string): LanguageModelV4Tools {
  const own = tools.length > 0 ? toolsOnce(tools) : [];
  const theirs = settings.serverTools?.filter(({ id }) => id.startsWith(`${provider}.`)) ?? [];
  if (theirs.length === 0) return own;
  return [...own, ...theirs.map(({ id, name, args = {} }) => ({ type: "provider" as const, id, name, args }))];
}

function encodeToolChoice(choice: ToolChoice): LanguageModelV4ToolChoice {
  return typeof choice === "string" ? { type: choice } : { type: "tool", toolName: choice.tool };
}

function toolsOnce(schemas: readonly ToolSchema[]): LanguageModelV4FunctionTool[] {
  let encoded = tools.get(schemas);
  if (!encoded) {
    encoded = schemas.map(({ name, description, input }) => ({
      type: "function",
      name,
      description,
      inputSchema: input as Schema,
    }));
    tools.set(schemas, encoded);
  }
  return encoded;
}

/** Encodes a message as one or two messages of the AI SDK: results follow in a second message. */
function encodePromptMessage(message: PromptMessage, asked: PromptTarget): EncodedPrompt {
  const { provider } = asked;
  if (message.role === "user") {
    const content = message.parts
      .filter(says)
      .map((part) => (part.type === "text" ? encodeTextPart(part) : encodeFilePart(part)));
    return { messages: content.length > 0 ? [{ role: "user", content }] : [] };
  }
  const content: AssistantContent = [];
  for (const part of message.unfinished ? message.parts.map(withoutItem) : message.parts) {
    if (part.type === "call") {
      content.push({
        type: "tool-call",
        toolCallId: part.id,
        toolName: part.tool,
        input: part.input,
        ...marks(part.provider),
      });
    } else if (part.type === "provider") {
      // The provider may have forgotten its own actions for a broken response.
      const given = message.unfinished ? undefined : part.provider[provider]?.part;
      if (given !== undefined) content.push(given as unknown as AssistantContent[number]);
    } else if (says(part)) {
      content.push({ type: part.type, text: part.text, ...marks(part.provider) });
    }
  }
  const results = message.results.map((result) => resultPart(result, asked));
  const encoded: LanguageModelV4Message[] = [];
  if (content.length > 0) encoded.push({ role: "assistant", content });
  if (results.length > 0) encoded.push({ role: "tool", content: results });
  const behind = asked.isWithin ? [] : message.results.flatMap((result) => filesBehind(result, asked));
  if (behind.length > 0) encoded.push({ role: "user", content: behind });
  const own = { messages: encoded, ...(message.results.some(({ files }) => files) && { asked }) };
  if (message.parts.every((part) => part.type !== "provider")) return own;
  const open = openCalls(content);
  return { ...own, provider, ...(open.size > 0 && { open }) };
}

function resultPart(result: PromptResult, { takes, isWithin }: PromptTarget): LanguageModelV4ToolResultPart {
  const { call, tool, failed } = result;
  const { text: value, files } = encodableResult(result, takes);
  const about = { type: "tool-result", toolCallId: call, toolName: tool } as const;
  if (files.length === 0 || !isWithin) return { ...about, output: { type: failed ? "error-text" : "text", value } };
  return {
    ...about,
    output: { type: "content", value: [{ type: "text", text: value }, ...files.map(encodeFilePart)] },
  };
}

/** Returns a user message with the files of a result, for a provider with text results. */
function filesBehind(
  result: PromptResult,
  { takes }: PromptTarget,
): (LanguageModelV4TextPart | LanguageModelV4FilePart)[] {
  const { files } = encodableResult(result, takes);
  if (files.length === 0) return [];
  return [{ type: "text", text: filesHeading(result) }, ...files.map(encodeFilePart)];
}

function openCalls(content: AssistantContent): Set<string> {
  const open = new Set<string>();
  for (const part of content) {
    if (part.type === "tool-call" && part.providerExecuted) open.add(part.toolCallId);
    if (part.type === "tool-result") open.delete(part.toolCallId);
  }
  return open;
}

/** OpenAI refuses the id of an item that it has not stored, as for parts of an unfinished response. */
function withoutItem<Part extends { readonly provider?: ProviderData }>(part: Part): Part {
  if (!part.provider) return part;
  const { provider: _, ...bare } = part;
  const kept = Object.entries(part.provider).filter(([, data]) => !("itemId" in data));
  return (kept.length > 0 ? { ...bare, provider: Object.fromEntries(kept) } : bare) as Part;
}

/** Providers refuse empty texts, unless they carry a signature or an id. */
function says(part: { readonly type: string; readonly text?: string; readonly provider?: ProviderData }): boolean {
  return part.type === "file" || part.text !== "" || part.provider !== undefined;
}

function encodeTextPart(part: TextPart): LanguageModelV4TextPart {
  return { type: "text", text: part.text, ...marks(part.provider) };
}

function encodeFilePart(part: FilePart): LanguageModelV4FilePart {
  const name = part.name ?? "without a name";
  const about = { type: "file", mediaType: part.mediaType, ...(part.name && { filename: part.name }) } as const;
  if (part.data !== undefined) return { ...about, data: { type: "data", data: part.data } };
  if (part.url === undefined) throw new ModelError("invalid-request", `The file ${name} has neither data nor a URL.`);
  if (URL.canParse(part.url)) return { ...about, data: { type: "url", url: new URL(part.url) } };
  throw new ModelError("invalid-request", `The file ${name} has an invalid URL: ${part.url.slice(0, 100)}`);
}

function marks(provider: ProviderData | undefined): { providerOptions?: SharedV4ProviderOptions } {
  return provider ? { providerOptions: options(provider) } : {};
}

function options(provider: ProviderData): SharedV4ProviderOptions {
  return provider as SharedV4ProviderOptions;
}
