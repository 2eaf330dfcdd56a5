import { ValueType } from "@opentelemetry/api";

/** Attribute names of OpenTelemetry's conventions for generative AI, v0.1.0 (status: in development). */
export const GENAI = {
  operation: "gen_ai.operation.name",
  provider: "gen_ai.provider.name",
  agent: "gen_ai.agent.name",
  conversation: "gen_ai.conversation.id",
  compacted: "gen_ai.conversation.compacted",
  model: "gen_ai.request.model",
  stream: "gen_ai.request.stream",
  temperature: "gen_ai.request.temperature",
  topP: "gen_ai.request.top_p",
  seed: "gen_ai.request.seed",
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
  // Content is sent only if the program asks for it.
  instructions: "gen_ai.system_instructions",
  input: "gen_ai.input.messages",
  output: "gen_ai.output.messages",
  tools: "gen_ai.tool.definitions",
  arguments: "gen_ai.tool.call.arguments",
  result: "gen_ai.tool.call.result",
} as const;

/** Attribute names of Banyan's own, for facts that the conventions do not cover. */
export const BANYAN = {
  run: "banyan.run.id",
  mode: "banyan.run.mode",
  outcome: "banyan.run.outcome",
  /** Id of the message at which a turn ended. */
  leaf: "banyan.branch.leaf",
  message: "banyan.message.id",
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

/** Values of the attribute `gen_ai.operation.name`, by kind of span. */
export const OPERATION = { turn: "invoke_agent", model: "chat", tool: "execute_tool" } as const;

/** Name of a span that covers a wait for the user. */
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

/** Options of all histograms, by the name of the histogram. */
export const HISTOGRAMS = {
  "gen_ai.client.inference.duration": inSeconds(
    "Time from a model request to the end of the response, including retries.",
  ),
  "gen_ai.client.inference.time_to_first_chunk": inSeconds(
    "Time from a model request to the first part of the response.",
  ),
  "gen_ai.client.inference.usage.input_tokens": inTokens("Input tokens of a request, including cached tokens."),
  "gen_ai.client.inference.usage.output_tokens": inTokens("Output tokens of a response, including reasoning tokens."),
  "gen_ai.client.inference.usage.cache_read.input_tokens": inTokens(
    "Input tokens that the provider read from its cache.",
  ),
  "gen_ai.client.inference.usage.cache_write.input_tokens": inTokens(
    "Input tokens that the provider wrote to its cache.",
  ),
  "gen_ai.client.inference.usage.reasoning.output_tokens": inTokens("Output tokens that were spent on reasoning."),
  "gen_ai.invoke_agent.duration": inSeconds("Duration of a turn, or of a sub-agent's run."),
  "gen_ai.execute_tool.duration": inSeconds("Duration of a tool call, from its start to its result."),
  "banyan.person.wait.duration": inSeconds("Time from a question to the user's answer."),
} as const;

/** Providers whose names in the conventions differ from Banyan's names. */
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

/** Splits a model id such as `google/gemini` and converts the provider to its name in the conventions. */
export function splitModelName(model: string): { readonly provider: string; readonly model: string } {
  const at = model.indexOf("/");
  const provider = at < 0 ? model : model.slice(0, at);
  return { provider: PROVIDERS[provider] ?? provider, model: at < 0 ? model : model.slice(at + 1) };
}

/** Finish reasons of a response in the conventions, by Banyan's finish reasons. */
export const FINISHES = {
  stop: "stop",
  calls: "tool_call",
  length: "length",
  filtered: "content_filter",
  paused: "pause",
  interrupted: "interrupted",
  error: "error",
} as const;
