import type { Json, Message } from "@banyan/core";
import type { FilePart, TextPart } from "@banyan/core/conversation";
import { encodableResult, filesHeading, PICTURES, type PromptMessage } from "@banyan/core/drivers";
import { promptFrom } from "@banyan/core/hosts";

/** A message in the chat completions format (https://platform.openai.com/docs/api-reference/chat/create). */
export type OpenAIMessage =
  | { role: "user"; content: string | OpenAIUserPart[] }
  | { role: "assistant"; content: string | null; tool_calls?: OpenAIToolCall[] }
  | { role: "tool"; tool_call_id: string; content: string };

/** A part of a user message, in the chat completions format. */
export type OpenAIUserPart =
  | { type: "text"; text: string }
  | { type: "image_url"; image_url: { url: string } }
  | { type: "file"; file: { filename: string; file_data: string } };

/** A call of the model, in the chat completions format. */
export interface OpenAIToolCall {
  id: string;
  type: "function";
  function: {
    name: string;
    /** JSON of an object. */
    arguments: string;
  };
}

/**
 * Converts a path of a conversation to messages of the chat completions format, as a model gets them:
 * `toOpenAIMessages(pathTo(state, state.leaf))`. OpenAI's own client accepts the array as `messages`.
 * - Each call is followed by its one result; for a call that did not run, the result gives the reason.
 * - From the nearest summary on, compacted messages are left out. Recalled memory comes before its message.
 * - Leaves out reasoning, sources and server-side work, which the format cannot hold.
 * - The system prompt is not part of a conversation; add it in front if needed.
 */
export function toOpenAIMessages(path: readonly Message[]): OpenAIMessage[] {
  return promptFrom(path).flatMap((message) => encodeChatMessage(message).messages);
}

/** A prompt message in the format: an answer with the results of its calls. */
export interface OpenAIMessages {
  readonly messages: OpenAIMessage[];
  /** True if the messages contain, or lack, data for one provider only. */
  readonly owned: boolean;
  /** True if results have files. The model's media types decide which of them it gets. */
  readonly hasFiles?: boolean;
}

/**
 * Data beyond the format that some providers need back, kept under the provider's name. OpenRouter: `reasoning_details`
 * of an answer. Google: `extra_content` of a call, with signatures. Any provider: the name of the reasoning field.
 */
export const kept = { answer: "reasoning_details", call: "extra_content", reasoning: "field" } as const;

/** The fields in which servers show reasoning as text. */
export const REASONING_FIELDS = ["reasoning_content", "reasoning"] as const;

export type ReasoningField = (typeof REASONING_FIELDS)[number];

/**
 * Encodes a message. Files of results become a user message after them, since the format has no place for files in a
 * result.
 *
 * @param provider The provider that gets its own data back; absent: none does.
 * @param takes Media types of files that the model gets in results.
 * @param needsReasoning Whether a response with calls needs `reasoning_content`, from any model.
 */
export function encodeChatMessage(
  message: PromptMessage,
  provider?: string,
  takes: readonly string[] = PICTURES,
  needsReasoning = false,
): OpenAIMessages {
  const { parts } = message;
  if (message.role === "user") {
    return { messages: [{ role: "user", content: userContent(parts as UserParts) }], owned: false };
  }
  let content = "";
  let owned = false;
  const calls: OpenAIToolCall[] = [];
  const details: Json[] = [];
  /** Some models refuse to continue after their calls without the earlier reasoning; others answer worse. */
  const reasoning: { [field in ReasoningField]?: string } = {};
  for (const part of parts as AssistantParts) {
    owned ||= part.provider !== undefined;
    const own = provider === undefined ? undefined : part.provider?.[provider];
    const detail = own?.[kept.answer];
    if (Array.isArray(detail)) details.push(...detail);
    if (part.type === "text") content += part.text;
    else if (part.type === "reasoning") {
      const field = REASONING_FIELDS.find((name) => name === own?.[kept.reasoning]);
      if (field) reasoning[field] = (reasoning[field] ?? "") + part.text;
    } else if (part.type === "call") {
      const called = { name: part.tool, arguments: JSON.stringify(part.input) };
      const extra = own?.[kept.call];
      calls.push({
        id: part.id,
        type: "function",
        function: called,
        ...(extra === undefined ? {} : { [kept.call]: extra }),
      });
    }
  }
  if (needsReasoning && calls.length > 0 && Object.keys(reasoning).length === 0) {
    // These models refuse a response with calls that lacks the field; blank if another model gave no reasoning.
    const said = (parts as AssistantParts).flatMap((part) => (part.type === "reasoning" ? part.text : []));
    reasoning.reasoning_content = said.join("\n") || " ";
  }
  const answer: OpenAIMessage = {
    role: "assistant",
    content: calls.length > 0 && content === "" ? null : content,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    // The details include the reasoning.
    ...(details.length > 0 ? { [kept.answer]: details } : reasoning),
  };
  const results: OpenAIMessage[] = [];
  const behind: OpenAIUserPart[] = [];
  for (const result of message.results) {
    const { text, files } = encodableResult(result, takes);
    results.push({ role: "tool", tool_call_id: result.call, content: text });
    if (files.length > 0) behind.push({ type: "text", text: filesHeading(result) }, ...files.map(userPart));
  }
  if (behind.length > 0) results.push({ role: "user", content: behind });
  return { messages: [answer, ...results], owned, hasFiles: message.results.some(({ files }) => files) };
}

type UserParts = Extract<PromptMessage, { role: "user" }>["parts"];
type AssistantParts = Extract<PromptMessage, { role: "assistant" }>["parts"];

/** Sends pure text as one string: all servers accept this, but not all accept lists of parts. */
function userContent(parts: readonly (TextPart | FilePart)[]): string | OpenAIUserPart[] {
  return parts.every((part) => part.type === "text")
    ? parts.map((part) => part.text).join("\n\n")
    : parts.map(userPart);
}

function userPart(part: TextPart | FilePart): OpenAIUserPart {
  if (part.type === "text") return { type: "text", text: part.text };
  const url = part.data === undefined ? (part.url ?? "") : `data:${part.mediaType};base64,${part.data}`;
  if (part.mediaType.startsWith("image/")) return { type: "image_url", image_url: { url } };
  return { type: "file", file: { filename: part.name ?? "file", file_data: url } };
}
