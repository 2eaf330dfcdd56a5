import type { Json, Message } from "@banyan/core";
import type { FilePart, TextPart } from "@banyan/core/conversation";
import { filesOf, PICTURES, type PromptMessage, resultShown } from "@banyan/core/drivers";
import { promptFrom } from "@banyan/core/hosts";

/** A message in the chat completions format (https://platform.openai.com/docs/api-reference/chat/create). */
export type OpenAIMessage =
  | { role: "user"; content: string | OpenAIUserPart[] }
  | { role: "assistant"; content: string | null; tool_calls?: OpenAIToolCall[] }
  | { role: "tool"; tool_call_id: string; content: string };

/** A piece of what a user says, in the chat completions format. */
export type OpenAIUserPart =
  | { type: "text"; text: string }
  | { type: "image_url"; image_url: { url: string } }
  | { type: "file"; file: { filename: string; file_data: string } };

/** A call that the model asked for, in the chat completions format. */
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
 * A path of a conversation as plain messages of the chat completions format, in the form in which a model is shown it:
 * `toOpenAIMessages(pathTo(state, state.leaf))`. The array can be given to OpenAI's own client as `messages`.
 *
 * - Each call is followed by its one result; a call that was not executed says why.
 * - From the nearest summary on, what it covers is left out. Recalled memory stands in front of the message it is for.
 * - The format has no place for reasoning, for cited sources and for what a provider did on its side: they are left out.
 * - The system prompt is no message of a conversation: who needs it puts it in front.
 */
export function toOpenAIMessages(path: readonly Message[]): OpenAIMessage[] {
  return promptFrom(path).flatMap((message) => encode(message).messages);
}

/** A message of a prompt in the format: an answer is followed by the results of its calls. */
export interface Encoded {
  readonly messages: OpenAIMessage[];
  /** Whether they hold, or lack, what is for one provider alone. */
  readonly owned: boolean;
  /** Whether there are files with the results: which of them a model is shown depends on what it takes. */
  readonly hasFiles?: boolean;
}

/**
 * What goes beyond the format and some providers want to see again, kept under the name of the provider that sent it:
 * OpenRouter's `reasoning_details` of an answer, `extra_content` of a call, in which Google has its signatures, and in
 * which field reasoning came.
 */
export const kept = { answer: "reasoning_details", call: "extra_content", reasoning: "field" } as const;

/** The fields in which servers show reasoning as text. */
export const REASONING_FIELDS = ["reasoning_content", "reasoning"] as const;

export type ReasoningField = (typeof REASONING_FIELDS)[number];

/**
 * Files of results stand in a message of the user behind them: the format has no place for them in a result.
 *
 * @param provider Who gets what it wants to see again; without one, it is left out.
 * @param takes Media types of the files that the model is shown with results.
 * @param needsReasoning Whether a response with calls needs `reasoning_content`, whoever gave the response.
 */
export function encode(
  message: PromptMessage,
  provider?: string,
  takes: readonly string[] = PICTURES,
  needsReasoning = false,
): Encoded {
  const { parts } = message;
  if (message.role === "user") {
    return { messages: [{ role: "user", content: userContent(parts as UserParts) }], owned: false };
  }
  let content = "";
  let owned = false;
  const calls: OpenAIToolCall[] = [];
  const details: Json[] = [];
  /** Some models refuse to go on after their calls without the reasoning before them; others do worse. */
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
    // These models refuse a response with calls that lacks the field; blank where another model gave no reasoning.
    const said = (parts as AssistantParts).flatMap((part) => (part.type === "reasoning" ? part.text : []));
    reasoning.reasoning_content = said.join("\n") || " ";
  }
  const answer: OpenAIMessage = {
    role: "assistant",
    content: calls.length > 0 && content === "" ? null : content,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    // The details hold the reasoning too.
    ...(details.length > 0 ? { [kept.answer]: details } : reasoning),
  };
  const results: OpenAIMessage[] = [];
  const behind: OpenAIUserPart[] = [];
  for (const result of message.results) {
    const { text, files } = resultShown(result, takes);
    results.push({ role: "tool", tool_call_id: result.call, content: text });
    if (files.length > 0) behind.push({ type: "text", text: filesOf(result) }, ...files.map(userPart));
  }
  if (behind.length > 0) results.push({ role: "user", content: behind });
  return { messages: [answer, ...results], owned, hasFiles: message.results.some(({ files }) => files) };
}

type UserParts = Extract<PromptMessage, { role: "user" }>["parts"];
type AssistantParts = Extract<PromptMessage, { role: "assistant" }>["parts"];

/** Text alone goes as one string: every server takes that, while lists of parts are not known everywhere. */
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
