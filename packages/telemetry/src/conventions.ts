import { ValueType } from "@opentelemetry/api";

/**
 * Names of OpenTelemetry's conventions for generative AI, v0.1.0 (status: in development). All such names of this
 * package are in this file, so that another version is one change.
 */
export const GENAI = {
  operation: "gen_ai.operation.name",
  provider: "gen_ai.provider.name",
  agent: "gen_ai.agent.name",
  conversation: "gen_ai.conversation.id",
  compacted: "gen_ai.conversation.compacted",
  model: "gen_ai.request.model",
  stream: "gen_ai.request.stream",
  temperature: "gen_ai.request.temperature",
  maxTokens: "gen_ai.request.max_tokens",
  stopSequences: "gen_ai.request.stop_sequences",
  reasoningLevel: "gen_ai.request.reasoning.level",
  finish: "gen_ai.response.finish_reasons",
  firstChunk: "gen_ai.response.time_to_first_chunk",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  cacheRead: "gen_ai.usage.cache_read.input_tokens",
  cacheWrite: "gen_ai.usage.cache_write.input_tokens",
  reasoning: "gen_ai.usage.reasoning.output_tokens",
  tool: "gen_ai.tool.name",
  toolType: "gen_ai.tool.type",
  call: "gen_ai.tool.call.id",
  error: "error.type",
  // Content: only if the program asks for it.
  instructions: "gen_ai.system_instructions",
  input: "gen_ai.input.messages",
  output: "gen_ai.output.messages",
  tools: "gen_ai.tool.definitions",
  arguments: "gen_ai.tool.call.arguments",
  result: "gen_ai.tool.call.result",
} as const;

/** Names under `banyan.` for facts that the conventions do not cover. */
export const BANYAN = {
  run: "banyan.run.id",
  mode: "banyan.run.mode",
  outcome: "banyan.run.outcome",
  /** Message at which a turn ended: the leaf of its branch. */
  leaf: "banyan.branch.leaf",
  message: "banyan.message.id",
  /** US dollars. Absent if the cost is unknown. */
  cost: "banyan.cost.usd",
  /** Milliseconds that a turn waited for a user. */
  waited: "banyan.person.wait_ms",
  question: "banyan.question.type",
  retries: "banyan.retries",
  retryDelay: "banyan.retry.delay_ms",
  attempt: "banyan.call.attempt",
  purpose: "banyan.purpose",
  status: "http.response.status_code",
} as const;

/** Operations of spans. */
export const OPERATION = { turn: "invoke_agent", model: "chat", tool: "execute_tool" } as const;

/** Name of the span of a wait for a user. */
export const PERSON = "wait_for_person";

const SECONDS = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 300, 900, 3600,
];
const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304];

const inSeconds = (description: string) => ({
  description,
  unit: "s",
  valueType: ValueType.DOUBLE,
  advice: { explicitBucketBoundaries: SECONDS },
});
const inTokens = (description: string) => ({
  description,
  unit: "{token}",
  valueType: ValueType.INT,
  advice: { explicitBucketBoundaries: TOKENS },
});

/** The histograms by name, with their options. */
export const HISTOGRAMS = {
  "gen_ai.client.inference.duration": inSeconds("From asking a model to the end of its response, retries included."),
  "gen_ai.client.inference.time_to_first_chunk": inSeconds("From asking a model to its first word."),
  "gen_ai.client.inference.usage.input_tokens": inTokens("Tokens of a request, cached ones included."),
  "gen_ai.client.inference.usage.output_tokens": inTokens("Tokens of a response, reasoning included."),
  "gen_ai.client.inference.usage.cache_read.input_tokens": inTokens("Tokens of a request read from a cache."),
  "gen_ai.client.inference.usage.cache_write.input_tokens": inTokens("Tokens of a request written to a cache."),
  "gen_ai.client.inference.usage.reasoning.output_tokens": inTokens("Tokens of a response that were reasoning."),
  "gen_ai.invoke_agent.duration": inSeconds("Duration of a turn, or of a sub-agent's work."),
  "gen_ai.execute_tool.duration": inSeconds("Duration of a tool call, from its start to its result."),
  "banyan.person.wait.duration": inSeconds("From a question to the user's answer."),
} as const;

/** Names of providers in the conventions that differ from Banyan's names. */
const PROVIDERS: Readonly<Record<string, string>> = {
  "openai-chat": "openai",
  google: "gcp.gemini",
  "google-vertex": "gcp.vertex_ai",
  "amazon-bedrock": "aws.bedrock",
  azure: "azure.ai.openai",
  mistral: "mistral_ai",
  xai: "x_ai",
  moonshot: "moonshot_ai",
};

/** Splits `provider/model`, and returns both by their names in the conventions. */
export function splitModelName(model: string): { readonly provider: string; readonly model: string } {
  const at = model.indexOf("/");
  const provider = at < 0 ? model : model.slice(0, at);
  return { provider: PROVIDERS[provider] ?? provider, model: at < 0 ? model : model.slice(at + 1) };
}

/** Reasons for the end of a response, by their names in the conventions. */
export const FINISHES = {
  stop: "stop",
  calls: "tool_call",
  length: "length",
  filtered: "content_filter",
  paused: "pause",
  interrupted: "interrupted",
  error: "error",
} as const;
