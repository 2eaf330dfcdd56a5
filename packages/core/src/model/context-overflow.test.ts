import { expect, test } from "vitest";
import { modelErrorFromResponse } from "./model-error.ts";

// Providers and their messages.
const SAID: readonly (readonly [string, string])[] = [
  [
    "OpenAI, chat",
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
  ],
  ["OpenAI, responses", "Your input exceeds the context window of this model. Please adjust your input and try again."],
  [
    "OpenAI, by its code",
    '{"error":{"message":"No.","type":"invalid_request_error","code":"context_length_exceeded"}}',
  ],
  ["Azure, by its code", '{"error":{"message":"Invalid.","code":"string_above_max_length"}}'],
  ["Anthropic", "prompt is too long: 213462 tokens > 200000 maximum"],
  ["Anthropic, with the answer", "input length and `max_tokens` exceed context limit: 199759 + 8192 > 200000"],
  ["Vertex", "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)."],
  ["Bedrock", "Input is too long for requested model."],
  ["Bedrock, of Nova", "Too many input tokens. Max input tokens: 300000, request input token count: 300001"],
  ["Mistral", "Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum context length"],
  ["Moonshot", "Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)"],
  ["DashScope", "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 98304]"],
  ["Z.ai", '{"error":{"code":"1261","message":"Prompt exceeds max length"}}'],
  ["Zhipu", '{"error":{"code":"1261","message":"Prompt 超长"}}'],
  ["DeepSeek", "This model's maximum context length is 131072 tokens. However, you requested 137000 tokens"],
  ["Groq", "Please reduce the length of the messages or completion."],
  ["Together", "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 4082"],
  ["Fireworks", "The prompt is too long: 50000, model maximum context length: 8192"],
  ["vLLM", "The decoder prompt (length 5000) is longer than the maximum model length of 4096."],
  ["SGLang", "The input (263000 tokens) is longer than the model's context length (262144 tokens)."],
  ["llama.cpp", "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it"],
  ["Ollama", "the input length exceeds the context length"],
  ["Ollama, in the cloud", "prompt too long; exceeded max context length by 10 tokens"],
  ["LM Studio", "The number of tokens to keep from the initial prompt is greater than the context length."],
  [
    "LM Studio, later",
    "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded.",
  ],
  ["xAI", "This model's maximum prompt length is 131072 but the request contains 537812 tokens."],
  ["Cohere", "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292."],
  ["OpenRouter", "This endpoint's maximum context length is 131072 tokens. However, you requested about 212345 tokens"],
  ["Poolside", "Input length 131393 exceeds the maximum allowed input length of 131040 tokens."],
  ["LiteLLM", "Input length (265330) exceeds model's maximum context length (262144)."],
  ["MiniMax", "invalid params, context window exceeds limit (2013)"],
  ["GitHub Copilot", "prompt token count of 135000 exceeds the limit of 128000"],
  ["GitHub Models", '{"error":{"code":"tokens_limit_reached","message":"Request body too large for gpt-4o model."}}'],
  ["watsonx", "the number of input tokens 5000 cannot exceed the total tokens limit 4096 for this model"],
  [
    "Cloudflare",
    "The estimated number of input and maximum output tokens (9000) exceeded this model context window limit",
  ],
  ["SiliconFlow", "length of prompt_tokens (9000) must be less than max_seq_len (8192)."],
  ["Volcengine", "Total tokens of image and text exceed max message tokens"],
];

test.each(SAID)("F33: a request that is too long is known as such: %s", (_, body) => {
  expect(modelErrorFromResponse({ status: 400, body })).toMatchObject({ code: "context-overflow", retryable: false });
});

test.each([
  "temperature is wrong",
  "max_tokens exceeds the limit of 8192",
  "Invalid 'tools[0].name': string does not match the pattern",
  "Unknown parameter: context",
  "the messages must alternate",
])("F33: another fault does not count as an overflow: %s", (body) => {
  expect(modelErrorFromResponse({ status: 400, body }).code).toBe("invalid-request");
});
