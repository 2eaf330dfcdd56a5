import { ModelError, type ModelPart } from "../ports/model.ts";

/** Reason for the end of a response, as a driver reports it. See {@link finishReason}. */
export type FinishReason = Extract<ModelPart, { type: "finish" }>["reason"];

/** `failed`: the provider broke the response off. `overloaded`: the same, for lack of resources. */
type FinishMeaning = FinishReason | "failed" | "overloaded";

// Each table is complete: an unlisted reason is unknown, and never success (F52).

/** https://platform.openai.com/docs/api-reference/chat, and compatible servers. */
const CHAT: Readonly<Record<string, FinishMeaning>> = {
  stop: "stop",
  // Servers that pass on reasons of the model behind them: Together, Text Generation Inference, gateways to Anthropic.
  eos: "stop",
  eos_token: "stop",
  end_turn: "stop",
  stop_sequence: "stop",
  complete: "stop",
  completed: "stop",
  tool_calls: "calls",
  tool_call: "calls",
  tool_use: "calls",
  function_call: "calls",
  length: "length",
  max_tokens: "length",
  max_output_tokens: "length",
  // https://docs.mistral.ai/api
  model_length: "length",
  // https://docs.z.ai/api-reference/llm/chat-completion
  model_context_window_exceeded: "length",
  sensitive: "filtered",
  network_error: "failed",
  content_filter: "filtered",
  content_filtered: "filtered",
  safety: "filtered",
  refusal: "filtered",
  error: "failed",
  // https://docs.vllm.ai
  abort: "failed",
  // Gemini behind the chat format.
  "function_call_filter: malformed_function_call": "failed",
  malformed_function_call: "failed",
  // https://api-docs.deepseek.com/api/create-chat-completion
  insufficient_system_resource: "overloaded",
};

/** https://docs.claude.com/en/api/handling-stop-reasons */
const MESSAGES: Readonly<Record<string, FinishMeaning>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "calls",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "filtered",
  pause_turn: "paused",
  compaction: "paused",
};

/** https://platform.openai.com/docs/api-reference/responses */
const RESPONSES: Readonly<Record<string, FinishMeaning>> = {
  completed: "stop",
  max_output_tokens: "length",
  content_filter: "filtered",
  failed: "failed",
};

/** https://ai.google.dev/api/generate-content#FinishReason */
const GOOGLE: Readonly<Record<string, FinishMeaning>> = {
  stop: "stop",
  max_tokens: "length",
  continuation: "length",
  safety: "filtered",
  recitation: "filtered",
  language: "filtered",
  blocklist: "filtered",
  prohibited_content: "filtered",
  spii: "filtered",
  image_safety: "filtered",
  image_prohibited_content: "filtered",
  image_recitation: "filtered",
  malformed_function_call: "failed",
  malformed_response: "failed",
  unexpected_tool_call: "failed",
  too_many_tool_calls: "failed",
  missing_thought_signature: "failed",
};

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html */
const CONVERSE: Readonly<Record<string, FinishMeaning>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "calls",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  guardrail_intervened: "filtered",
  content_filtered: "filtered",
  malformed_model_output: "failed",
  malformed_tool_use: "failed",
};

const TABLES = {
  chat: CHAT,
  messages: MESSAGES,
  /** For a package that may use any format; no reason has two meanings. */
  any: { ...CONVERSE, ...GOOGLE, ...RESPONSES, ...MESSAGES, ...CHAT },
} as const;

/** Returns the meaning of a provider's finish reason, or nothing for an unknown reason. */
export function finishMeaning(format: keyof typeof TABLES, reason: string): FinishMeaning | undefined {
  const name = reason.toLowerCase();
  return Object.hasOwn(TABLES[format], name)
    ? (TABLES[format] as Readonly<Record<string, FinishMeaning>>)[name]
    : undefined;
}

/**
 * Converts a provider's finish reason.
 * @param model `provider/model`, for errors, and to remember unknown reasons.
 * @param said The reason as the provider wrote it, if the provider's package replaces it by another name.
 * @throws ModelError if the provider broke the response off, or if the reason is unknown.
 * @example finishReason("chat", "length", "openai/gpt-5") // "length"
 */
export function finishReason(
  format: keyof typeof TABLES,
  reason: string,
  model: string,
  said: string | undefined = reason,
): FinishReason {
  const meaning = finishMeaning(format, reason);
  if (meaning === undefined) throw unknownReason(model, reason);
  if (meaning === "failed") throw endedBy("provider", "The provider ended the answer with an error", said);
  if (meaning === "overloaded") throw endedBy("overloaded", "The provider is overloaded", said);
  return meaning;
}

function endedBy(code: "provider" | "overloaded", fact: string, reason: string): ModelError {
  return new ModelError(code, { fact, advice: "try again later", words: reason }, { paid: true });
}

/** Unknown reasons so far, each with its model. */
const met = new Set<string>();
/** A server that invents reasons must not fill the memory. */
const MOST = 1_000;

/** Retryable only for a new reason, in case of a temporary fault: a known reason is not worth paying for again. */
function unknownReason(model: string, reason: string): ModelError {
  const name = reason.slice(0, 100);
  const key = `${model} ${name}`;
  const isNew = !met.has(key);
  if (met.size < MOST) met.add(key);
  const fact = `The answer of ${model} ended for an unknown reason ("${name}"), so the answer may be incomplete`;
  return new ModelError(
    "provider",
    { fact, advice: "ask again, or ask another model" },
    { retryable: isNew, paid: true },
  );
}
