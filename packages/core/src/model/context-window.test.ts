import { describe, expect, test } from "vitest";
import { type ModelDriver, ModelError } from "../ports/model.ts";
import { learntWindow, learnWindow, windowFromError, windowOf } from "./context-window.ts";
import { modelErrorFromResponse } from "./model-error.ts";

// Providers, their messages for a too long request, and the window of the model. 0: the message does not name it.
const REFUSALS: readonly (readonly [provider: string, body: string, window: number])[] = [
  [
    "OpenAI",
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    8192,
  ],
  ["OpenAI, responses", "Your input exceeds the context window of this model.", 0],
  ["Anthropic", "prompt is too long: 213462 tokens > 200000 maximum", 200_000],
  ["Anthropic, with the answer", "input length and `max_tokens` exceed context limit: 199759 + 8192 > 200000", 200_000],
  ["Vertex", "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).", 1_048_575],
  ["Bedrock", "Input is too long for requested model.", 0],
  ["Bedrock, of Nova", "Too many input tokens. Max input tokens: 300000, request input token count: 300001", 300_000],
  [
    "Mistral",
    "Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    32_768,
  ],
  ["Moonshot", "Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)", 8192],
  ["Moonshot, in bytes", "total message size 10176584 exceeds limit 2097152 bytes", 0],
  ["DashScope", "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 98304]", 98_304],
  ["DeepSeek", "This model's maximum context length is 131072 tokens. However, you requested 137000 tokens", 131_072],
  ["Groq", "Please reduce the length of the messages or completion.", 0],
  ["Together", "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 4082", 4097],
  ["Hugging Face", "Input validation error: `inputs` must have less than 1024 tokens. Given: 1500", 1024],
  ["Fireworks", "The prompt is too long: 50000, model maximum context length: 8192", 8192],
  ["vLLM", "The decoder prompt (length 5000) is longer than the maximum model length of 4096.", 4096],
  [
    "vLLM, with the answer",
    "'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context length is 32768 tokens and your request has 30000 input tokens (8192 > 32768 - 30000).",
    32_768,
  ],
  ["SGLang", "The input (263000 tokens) is longer than the model's context length (262144 tokens).", 262_144],
  ["llama.cpp", "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it", 4096],
  [
    "llama.cpp, by its fields",
    '{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}',
    4096,
  ],
  ["Ollama", "the input length exceeds the context length", 0],
  ["Ollama, in the cloud", "prompt too long; exceeded max context length by 1000 tokens", 0],
  ["LM Studio", "the model is loaded with context length of only 4096 tokens", 4096],
  ["MLX", "Prompt has 5000 tokens, but the configured context size is 4096 tokens", 4096],
  ["xAI", "This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 131_072],
  ["Cohere", "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292.", 4081],
  ["Poolside", "Input length 131393 exceeds the maximum allowed input length of 131040 tokens.", 131_040],
  ["LiteLLM", "Input length (265330) exceeds model's maximum context length (262144).", 262_144],
  ["SambaNova", "The maximum context length of Meta-Llama-3.1-8B is 8,192.", 8192],
  ["GitHub Copilot", "prompt token count of 135000 exceeds the limit of 128000", 128_000],
  [
    "GitHub Models",
    '{"error":{"code":"tokens_limit_reached","message":"Request body too large for gpt-4o model. Max size: 8000 tokens."}}',
    8000,
  ],
  ["watsonx", "the number of input tokens 5000 cannot exceed the total tokens limit 4096 for this model", 4096],
  [
    "Cloudflare",
    "The estimated number of input and maximum output tokens (9000) exceeded this model context window limit (8192)",
    8192,
  ],
  ["SiliconFlow", "length of prompt_tokens (9000) must be less than max_seq_len (8192).", 8192],
  ["Z.ai", '{"error":{"code":"1261","message":"Prompt exceeds max length"}}', 0],
  ["Zhipu", '{"error":{"code":"1261","message":"Prompt 超长"}}', 0],
  ["MiniMax", "invalid params, context window exceeds limit (2013)", 0],
  ["where the answer has no room", "max_tokens must be at least 1, got -8192.", 0],
];

const SENT = 2_000_000;

describe("F89: the window in the words of a refusal", () => {
  test.each(REFUSALS)("%s", (_, body, window) => {
    const error = modelErrorFromResponse({ status: 400, body });
    expect(error.code).toBe("context-overflow");
    expect(windowFromError(error, SENT)).toBe(window === 0 ? SENT : window);
  });

  test.each(REFUSALS)("%s: a number counts only from 1,000 up to the size that was sent", (_, body, window) => {
    const error = modelErrorFromResponse({ status: 400, body });
    for (const sent of [999, window - 1, window, window + 1].filter((size) => size > 0)) {
      expect(windowFromError(error, sent)).toBe(window > 0 && sent >= window ? window : sent);
    }
  });

  test("a refusal of any length takes no time", () => {
    const words = `maximum context ${"max ".repeat(50_000)}${"9 ".repeat(50_000)}`;
    const before = performance.now();
    windowFromError(new ModelError("context-overflow", words, { detail: words }), SENT);
    expect(performance.now() - before).toBeLessThan(200);
  });
});

describe("F89: a learnt window", () => {
  const driver = (facts: Partial<ModelDriver> = {}): ModelDriver => ({
    id: "house/model",
    family: "test",
    stream: () => Promise.resolve(),
    ...facts,
  });

  test("applies to all drivers of the model at the address, and to no other", () => {
    const address = "https://one.example.com/v1";
    learnWindow(driver({ address }), 5_000);
    learnWindow(driver({ address }), 9_000);
    expect(windowOf(driver({ address, contextSize: 8_000 }))).toBe(5_000);
    expect(windowOf(driver({ address, contextSize: 4_000 }))).toBe(4_000);
    expect(windowOf(driver({ address, id: "house/other", contextSize: 8_000 }))).toBe(8_000);
    expect(windowOf(driver({ address: "https://two.example.com/v1" }))).toBeUndefined();
    expect(learntWindow("house/model")).toBe(5_000);
    expect(learntWindow("house/mod")).toBeUndefined();
  });

  test("without an address applies to the driver alone", () => {
    const one = driver();
    learnWindow(one, 5_000);
    expect([windowOf(one), windowOf(driver())]).toEqual([5_000, undefined]);
  });
});
