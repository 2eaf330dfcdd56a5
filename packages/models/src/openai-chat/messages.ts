import type { Json, Message } from "@banyan/core";
import { type FilePart, OptionError, type TextPart } from "@banyan/core/conversation";
import {
  encodableResult,
  filesHeading,
  type OpenAiChatMessage,
  openAiChatPart,
  PICTURES,
  type PromptMessage,
} from "@banyan/core/drivers";
import { promptFrom } from "@banyan/core/hosts";

/**
 * A message in the chat completions format (https://platform.openai.com/docs/api-reference/chat/create).
 * See {@link toOpenAIMessages}.
 */
export type OpenAIMessage = OpenAiChatMessage;

/**
 * A part of a user message, in the chat completions format.
 * @example const part: OpenAIUserPart = { type: "text", text: "Hello" };
 */
export type OpenAIUserPart = Exclude<Extract<OpenAIMessage, { role: "user" }>["content"], string>[number];

/**
 * A tool call in a message of the chat completions format.
 * @example const called: OpenAIToolCall = { id: "1", type: "function", function: { name: "look", arguments: "{}" } };
 */
export type OpenAIToolCall = NonNullable<Extract<OpenAIMessage, { role: "assistant" }>["tool_calls"]>[number];

/**
 * Converts a path of a conversation to messages of the chat completions format: `toOpenAIMessages(pathTo(state,
 * state.leaf))`. OpenAI's client accepts the result as `messages`.
 * - Each tool call has one result. For a call that did not run, the result gives the reason.
 * - The nearest summary replaces compacted messages. Recalled memory comes before the user message that it belongs to.
 * - Reasoning, sources, server-side work and the system prompt are left out.
 * @example const messages = toOpenAIMessages(pathTo(session.state, session.state.leaf));
 */
export function toOpenAIMessages(path: readonly Message[]): OpenAIMessage[] {
  if (!Array.isArray(path) || path.some((message) => typeof message?.role !== "string"))
    throw new OptionError("path of toOpenAIMessages must be a list of messages, as pathTo returns.");
  return promptFrom(path).flatMap((message) => encodeChatMessage(message).messages);
}

/** A model's answer and the results of its calls, or another prompt message, in the chat completions format. */
export interface OpenAIMessages {
  readonly messages: OpenAIMessage[];
  /** True if the messages suit only one provider, because of data that they contain or do not contain. */
  readonly owned: boolean;
  readonly hasFiles?: boolean;
  readonly hasCalls?: boolean;
}

/**
 * The keys under which provider data stores an answer's reasoning details, a call's extra content, and the name of the
 * reasoning field.
 */
export const kept = { answer: "reasoning_details", call: "extra_content", reasoning: "field" } as const;

/** The fields in which servers send reasoning as text. */
export const REASONING_FIELDS = ["reasoning_content", "reasoning"] as const;

export type ReasoningField = (typeof REASONING_FIELDS)[number];

/**
 * Encodes a message. Files of tool results follow in a user message, since tool results cannot hold files.
 * @param provider The provider that gets its own data back; absent: no data is sent back.
 * @param takes Media types of files that the model accepts in tool results.
 * @param needsReasoning Whether a response with calls must have `reasoning_content`, from any model.
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
    // Such models refuse a response with calls that lacks the field; it is blank if another model gave no reasoning.
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
    if (files.length > 0) behind.push({ type: "text", text: filesHeading(result) }, ...files.map(openAiChatPart));
  }
  if (behind.length > 0) results.push({ role: "user", content: behind });
  const hasFiles = message.results.some(({ files }) => files);
  return { messages: [answer, ...results], owned, hasFiles, hasCalls: calls.length > 0 };
}

type UserParts = Extract<PromptMessage, { role: "user" }>["parts"];
type AssistantParts = Extract<PromptMessage, { role: "assistant" }>["parts"];

/** Sends pure text as one string: all servers accept this, but not all accept lists of parts. */
function userContent(parts: readonly (TextPart | FilePart)[]): string | OpenAIUserPart[] {
  return parts.every((part) => part.type === "text")
    ? parts.map((part) => part.text).join("\n\n")
    : parts.map(openAiChatPart);
}
