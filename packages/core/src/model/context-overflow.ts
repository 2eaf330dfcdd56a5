/** Error messages for a request that is too long, each with the providers that send it. */
const FORMS: readonly RegExp[] = [
  // OpenAI, Azure, Groq, Cerebras, DeepSeek, StepFun (`code`): https://platform.openai.com/docs/guides/error-codes
  /context_length_exceeded|context_window_exceeded/i,
  // OpenAI, responses: "Your input exceeds the context window of this model."; MiniMax: "context window exceeds limit (2013)"
  /exceeds? the context window|context window (exceeds|exceeded|limit|is full)/i,
  // OpenAI, chat, and with it DeepSeek, OpenRouter, Together, NVIDIA, SiliconFlow, vLLM: "This model's maximum context
  // length is 8192 tokens."; SambaNova: "The maximum context length of X is 8192."; LiteLLM; Perplexity
  /maximum context length|max(imum)? context( size| window)|context length (is|of|exceeded|limit)|context limit/i,
  // Azure (`code`): "Invalid 'messages[1].content': string too long."
  /string_above_max_length/i,
  // Anthropic (413): https://docs.claude.com/en/api/errors; "prompt is too long: 213462 tokens > 200000 maximum", also on
  // Vertex; Fireworks: "The prompt is too long: 50000, model maximum context length: 8192"
  /request_too_large|prompt is too long|prompt too long/i,
  // Bedrock: "Input is too long for requested model."; "Too many input tokens. Max input tokens: 1, request: 2"
  /input is too long|input (token length|length) (is )?too long|too many (input )?tokens/i,
  // Google, Vertex: "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)."
  // GitHub Copilot: "prompt token count of 135000 exceeds the limit of 128000"
  /(prompt|input|request(ed)?) token (count|length)[^.]* exceed|token count exceeds|model_max_prompt_tokens_exceeded/i,
  // GitHub Models: "Request body too large for gpt-4o model. Max size: 8000 tokens." (`code`)
  /tokens_limit_reached/i,
  // xAI: "This model's maximum prompt length is 131072 but the request contains 537812 tokens."
  /maximum prompt length/i,
  // Mistral (`code` 3051): "Prompt contains 65673 tokens ..., too large for model with 32768 maximum context length"
  /too large for model with|prompt contains (at least )?[\d,]+ (input )?tokens/i,
  // Groq, Cerebras: "Please reduce the length of the messages or completion."; vLLM: "... of the input messages"
  /reduce (the|your) (length|prompt|message size)/i,
  // Moonshot: "Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)"
  /exceed(s|ed)? (the )?model('s)? token limit|token limit exceeded/i,
  // DashScope: "Range of input length should be [1, 30720]"; "Total message token length exceed model limit"
  /range of input length should be|message token length exceed/i,
  // Z.ai, Zhipu (code 1261): "Prompt exceeds max length", in Chinese "Prompt 超长"; other services in Chinese
  /prompt exceeds max|prompt\s*超长|(输入|上下文|提示词)[^。]{0,12}(超长|超过|超出|过长)/i,
  // Poolside, GLM behind hubs: "Input length 131393 exceeds the maximum allowed input length of 131040 tokens."
  /(prompt|input) (length|tokens)[^.]* exceed|exceeds? (the )?maximum (allowed )?(input|prompt|sequence)/i,
  // Together, Hugging Face TGI: "`inputs` tokens + `max_new_tokens` must be <= 4097"; "`inputs` must have less than 1024 tokens"
  /max_new_tokens. must be|inputs. must have less than/i,
  // SGLang, Together: "The input (5000 tokens) is longer than the model's context length (4096 tokens)."
  // vLLM: "The decoder prompt (length 5000) is longer than the maximum model length of 4096."
  /longer than the (model's |maximum )?(context|model|sequence) length/i,
  // Cohere: "too many tokens: total number of tokens in the prompt cannot exceed 4081"; watsonx: "... cannot exceed the
  // total tokens limit 4096 for this model"
  /number of( input)? tokens[^.]* (cannot|must not) exceed/i,
  // llama.cpp: "request (5000 tokens) exceeds the available context size (4096 tokens)" (`type`); "Context size has been
  // exceeded."; MLX, llamafile: "Prompt has 5000 tokens, but the configured context size is 4096 tokens"
  /exceed_context_size|available context size|context size (has been |is )?exceeded|configured context size/i,
  // Ollama: "the input length exceeds the context length"; "prompt too long; exceeded max context length by 10 tokens"
  /exceed(s|ed)? (the |max )*context (length|size)/i,
  // LM Studio: "The number of tokens to keep from the initial prompt is greater than the context length."; "the model is
  // loaded with context length of only 4096 tokens"; "Reached context length of 4096 tokens"
  /greater than the context length|context length of (only )?[\d,]+ tokens|context the overflows/i,
  // Cloudflare: "The estimated number of input and maximum output tokens (X) exceeded this model context window limit (Y)"
  /exceeded this model context/i,
  // SiliconFlow (code 20015): "length of prompt_tokens (9000) must be less than max_seq_len (8192)."
  /prompt_tokens[^.]* must be less than max_seq_len/i,
  // Baidu (`code`): "Prompt tokens too long"; Volcengine: "Total tokens of image and text exceed max message tokens"
  /prompt[_ ]tokens[_ ]too[_ ]long|exceed max message tokens/i,
  // Moonshot, in bytes: "total message size 10176584 exceeds limit 2097152"; Google: "Request payload size exceeds the limit"
  /(message|messages|request|payload|body|prompt|input) size( of)?( [\d,]+)?( bytes)? (exceeds|is larger than|is over)/i,
  // vLLM, SGLang and gateways, where the prompt leaves less than nothing for the response: "max_tokens must be at least 1, got -812."
  /max_?(completion_|output_|new_)?tokens\W[^.]{0,80}-\d/i,
  /(tokens?|budget|room|context)[^.]{0,40}(remaining|available|left)[^.\d]{0,20}-\d/i,
  // llama.cpp, when it may not drop the beginning: "context shift is disabled"; "Prompt (5000) does not fit in the context (4096)"
  /context shift is disabled|does not fit (in|into) the (context|n_ctx)|n_ctx[^.]{0,40}exceed|exceeds? n_ctx/i,
];

/** True if a provider's error message means that a request is too long for the model. */
export function saysTooLong(text: string): boolean {
  return FORMS.some((form) => form.test(text));
}
