import type { Json } from "@banyan/core";
import type { ProviderData } from "@banyan/core/conversation";
import { anthropicFile, encodableResult, PDF, type PromptCall, type PromptMessage } from "@banyan/core/drivers";
import { encodeText } from "../wire/bytes.ts";

/** The key of Anthropic's data in the provider data of a message. */
export const PROVIDER = "anthropic";

/** The beginning of a message's JSON, by role. The encoder appends content blocks and closes the message. */
export const BEGIN = { user: ',{"role":"user","content":[', assistant: ',{"role":"assistant","content":[' } as const;

/** A prompt message in Anthropic's format, as JSON bytes: one or more messages, each after a comma. */
export interface EncodedMessage {
  /** The model's message; empty if no part of the answer can be sent. */
  readonly assistant?: Uint8Array;
  /** The user's message, or the results of the answer's calls. */
  readonly user?: Uint8Array;
  /** True if the message contains a PDF, for which Anthropic needs a header. */
  readonly pdf?: true;
}

type PromptAnswer = Extract<PromptMessage, { role: "assistant" }>;
type Own = Readonly<Record<string, Json>> | undefined;
type AnthropicBlock = Readonly<Record<string, unknown>>;

/**
 * Encodes a message. `undefined` if only the AI SDK's package can encode it. `takes`: file types that are allowed in
 * tool results.
 */
export function encodeAnthropicMessage(message: PromptMessage, takes: readonly string[]): EncodedMessage | undefined {
  return message.role === "user" ? encodeUser(message.parts) : encodeAnswer(message, takes);
}

function encodeUser(parts: Extract<PromptMessage, { role: "user" }>["parts"]): EncodedMessage | undefined {
  const blocks: AnthropicBlock[] = [];
  for (const part of parts) {
    if (part.type === "text" && anthropicData(part)) return undefined;
    if (part.type === "text" && part.text === "") continue;
    const block = part.type === "text" ? { type: "text", text: part.text } : anthropicFile(part);
    if (!block) return undefined;
    blocks.push(block);
  }
  if (blocks.length === 0) return {};
  const pdf = parts.some((part) => part.type === "file" && part.mediaType === PDF);
  return { user: messageBytes("user", blocks), ...(pdf ? { pdf } : {}) };
}

function encodeAnswer(message: PromptAnswer, takes: readonly string[]): EncodedMessage | undefined {
  const said: AnthropicBlock[] = [];
  /** Calls since the last reasoning. Anthropic wants calls after the text between them. */
  let calls: AnthropicBlock[] = [];
  /** True if the message has any content, for any provider. */
  let says = false;
  for (const part of message.parts) {
    const own = anthropicData(part);
    if (part.type === "provider") {
      // Anthropic may have dropped server-side work of an interrupted answer.
      if (own && !message.unfinished) return undefined;
      continue;
    }
    says ||= part.type === "call" || part.text !== "" || part.provider !== undefined;
    if (part.type === "call") {
      const block = callBlock(part, own);
      if (!block) return undefined;
      calls.push(block);
    } else if (part.type === "reasoning") {
      const block = reasoningBlock(part.text, own);
      if (!block) continue;
      said.push(...calls, block);
      calls = [];
    } else {
      if (own) return undefined;
      if (part.text !== "") said.push({ type: "text", text: part.text });
    }
  }
  let pdf = false;
  const results: AnthropicBlock[] = [];
  for (const result of message.results) {
    const { text, files } = encodableResult(result, takes);
    const blocks = files.map(anthropicFile);
    if (blocks.includes(undefined)) return undefined;
    pdf ||= files.some(({ mediaType }) => mediaType === PDF);
    results.push({
      type: "tool_result",
      tool_use_id: result.call,
      content: files.length === 0 ? text : [{ type: "text", text }, ...blocks],
      ...(result.failed ? { is_error: true } : {}),
    });
  }
  return {
    ...(says ? { assistant: messageBytes("assistant", [...said, ...calls]) } : {}),
    ...(results.length > 0 ? { user: messageBytes("user", results) } : {}),
    ...(pdf ? { pdf } : {}),
  };
}

function callBlock({ id, tool, input }: PromptCall, own: Own): AnthropicBlock | undefined {
  const block = { type: "tool_use", id, name: tool, input };
  if (!own) return block;
  const { caller, ...rest } = own;
  // Calls from Anthropic's own tools need these tools' parts in the conversation.
  if (JSON.stringify(caller) !== '{"type":"direct"}' || Object.keys(rest).length > 0) return undefined;
  return { ...block, caller };
}

/** Reasoning without a signature, such as another model's, is not sent to Anthropic. */
function reasoningBlock(thinking: string, own: Own): AnthropicBlock | undefined {
  if (typeof own?.signature === "string") return { type: "thinking", thinking, signature: own.signature };
  if (typeof own?.redactedData === "string") return { type: "redacted_thinking", data: own.redactedData };
  return undefined;
}

function anthropicData({ provider }: { readonly provider?: ProviderData }): Own {
  return provider?.[PROVIDER];
}

function messageBytes(role: keyof typeof BEGIN, blocks: readonly AnthropicBlock[]): Uint8Array {
  return encodeText(blocks.length === 0 ? "" : `${BEGIN[role]}${JSON.stringify(blocks).slice(1)}}`);
}
