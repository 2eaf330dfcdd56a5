// The fields that a request may have, by the types of the providers' own SDKs. Providers refuse unknown fields. The
// product and this file do not read each other, so that each checks the other. Parts with a `type` are only listed if
// Banyan sends them, with all fields of the SDK's type.

/** The fields of an object. A field without a shape holds any value. */
interface Fields {
  readonly names: ReadonlySet<string>;
  readonly shapes: Readonly<Record<string, Shape>>;
}

/** An object; a choice of objects by the value of a field; or a map with any keys. */
type Shape =
  | Fields
  | { readonly key: string; readonly variants: Readonly<Record<string, Fields>> }
  | { readonly each: Shape };

const fields = (names: string, shapes: Readonly<Record<string, Shape>> = {}): Fields => ({
  names: new Set([...names.split(" "), ...Object.keys(shapes)].filter((name) => name !== "")),
  shapes,
});

const by = (key: string, variants: Readonly<Record<string, Fields>>): Shape => ({ key, variants });

const also = ({ names, shapes }: Fields, more: string): Fields =>
  fields([...names, ...more.split(" ")].join(" "), shapes);

// openai 6.49.0, resources/chat/completions/completions.d.ts: ChatCompletionCreateParamsStreaming.
const breakpoint = { prompt_cache_breakpoint: fields("mode") };
const chatText = fields("type text", breakpoint);
const chatAssistant = fields("role name refusal function_call", {
  content: by("type", { text: chatText, refusal: fields("type refusal") }),
  audio: fields("id"),
  tool_calls: by("type", { function: fields("id type", { function: fields("name arguments") }) }),
});
const chatMessages = {
  developer: fields("role name", { content: chatText }),
  system: fields("role name", { content: chatText }),
  user: fields("role name", {
    content: by("type", {
      text: chatText,
      image_url: fields("type", { image_url: fields("url detail"), ...breakpoint }),
      file: fields("type", { file: fields("file_data file_id filename"), ...breakpoint }),
    }),
  }),
  assistant: chatAssistant,
  tool: fields("role tool_call_id", { content: chatText }),
};
const chatTools = by("type", { function: fields("type", { function: fields("name description strict parameters") }) });
const CHAT =
  "model stream frequency_penalty logprobs max_completion_tokens max_tokens modalities n parallel_tool_calls " +
  "presence_penalty prompt_cache_key prompt_cache_retention reasoning_effort safety_identifier seed service_tier stop " +
  "store temperature top_logprobs top_p user verbosity audio function_call functions logit_bias metadata moderation " +
  "prediction prompt_cache_options response_format tool_choice web_search_options";
const chat = (assistant = chatAssistant, more = ""): Fields =>
  fields(`${CHAT} ${more}`, {
    messages: by("role", { ...chatMessages, assistant }),
    stream_options: fields("include_obfuscation include_usage"),
    tools: chatTools,
  });

// openai 6.49.0, resources/responses/responses.d.ts: ResponseCreateParamsStreaming.
const inputParts = by("type", {
  input_text: fields("type text", breakpoint),
  input_image: fields("type detail file_id image_url", breakpoint),
  input_file: fields("type detail file_data file_id file_url filename", breakpoint),
  output_text: fields("type text annotations logprobs"),
  refusal: fields("type refusal"),
});
const responses = fields(
  "model stream background include instructions max_output_tokens parallel_tool_calls previous_response_id " +
    "prompt_cache_key prompt_cache_retention safety_identifier service_tier store temperature top_logprobs top_p " +
    "truncation user context_management conversation metadata moderation prompt prompt_cache_options tool_choice",
  {
    input: by("type", {
      "": fields("role phase", { content: inputParts }),
      message: fields("type id role status phase", { content: inputParts }),
      function_call: fields("type id call_id name arguments status namespace caller"),
      function_call_output: fields("type id call_id status caller", { output: inputParts }),
      reasoning: fields("type id encrypted_content status", {
        summary: fields("type text"),
        content: fields("type text"),
      }),
      item_reference: fields("type id"),
    }),
    reasoning: fields("context effort generate_summary summary mode"),
    stream_options: fields("include_obfuscation"),
    text: fields("verbosity format"),
    tools: by("type", {
      function: fields("type name description strict parameters output_schema allowed_callers defer_loading"),
    }),
  },
);

// @anthropic-ai/sdk 1.14.0, resources/messages/messages.d.ts: MessageCreateParamsStreaming.
const cached = { cache_control: fields("type ttl") };
const anthropicText = fields("type text citations", cached);
const anthropicSource = by("type", {
  base64: fields("type data media_type"),
  text: fields("type data media_type"),
  url: fields("type url"),
  file: fields("type file_id"),
});
const anthropicFiles = {
  image: fields("type transformations", { source: anthropicSource, ...cached }),
  document: fields("type context title", { source: anthropicSource, citations: fields("enabled"), ...cached }),
};
const anthropicBlocks = by("type", {
  text: anthropicText,
  ...anthropicFiles,
  thinking: fields("type thinking signature"),
  redacted_thinking: fields("type data"),
  tool_use: fields("type id name input toolset_name caller", cached),
  tool_result: fields("type tool_use_id is_error toolset_name", {
    content: by("type", { text: anthropicText, ...anthropicFiles }),
    ...cached,
  }),
});
const anthropic = fields(
  "model stream max_tokens inference_geo service_tier speed stop_sequences user_profile_id workspace_id container " +
    "diagnostics metadata temperature top_k top_p",
  {
    messages: by("role", {
      user: fields("role", { content: anthropicBlocks }),
      assistant: fields("role", { content: anthropicBlocks }),
      system: fields("role", { content: anthropicText }),
    }),
    system: anthropicText,
    output_config: fields("effort format"),
    thinking: by("type", {
      enabled: fields("type budget_tokens display"),
      disabled: fields("type"),
      adaptive: fields("type display"),
    }),
    tool_choice: fields("type name disable_parallel_tool_use"),
    tools: fields(
      "type name description input_schema allowed_callers defer_loading eager_input_streaming strict input_examples",
      cached,
    ),
    ...cached,
  },
);

// @google/genai 2.32.0, dist/node/index.mjs: the output of generateContentConfigToMldev, partToMldev and toolToMldev, and
// the types Schema, FunctionDeclaration and FunctionResponse of dist/genai.d.ts.
const blob = fields("data mimeType displayName");
const googleParts = fields(
  "text thought thoughtSignature audioTranscription codeExecutionResult executableCode mediaProcessing mediaResolution " +
    "partMetadata speechMetadata toolCall toolResponse videoMetadata",
  {
    inlineData: blob,
    fileData: fields("displayName fileUri mimeType"),
    functionCall: fields("id name args"),
    functionResponse: fields("id name response scheduling willContinue", {
      parts: fields("mediaProcessing fileData", { inlineData: blob }),
    }),
  },
);
const inSchema: Record<string, Shape> = {};
const googleSchema: Fields = {
  shapes: inSchema,
  names: new Set(
    (
      "description enum format maxItems maxLength maxProperties maximum minItems minLength minProperties minimum nullable " +
      "pattern propertyOrdering required title type anyOf default example items properties"
    ).split(" "),
  ),
};
Object.assign(inSchema, { anyOf: googleSchema, items: googleSchema, properties: { each: googleSchema } });
const google = fields("cachedContent continuationToken labels safetySettings serviceTier store", {
  contents: fields("role", { parts: googleParts }),
  systemInstruction: fields("role", { parts: googleParts }),
  generationConfig: fields(
    "audioTranscriptionConfig candidateCount enableEnhancedCivicAnswers frequencyPenalty imageConfig logprobs " +
      "maxOutputTokens mediaResolution presencePenalty responseJsonSchema responseLogprobs responseMimeType " +
      "responseModalities responseSchema seed speechConfig stopSequences temperature topK topP",
    { thinkingConfig: fields("includeThoughts thinkingBudget thinkingLevel") },
  ),
  toolConfig: fields("includeServerSideToolInvocations retrievalConfig", {
    functionCallingConfig: fields("allowedFunctionNames mode streamFunctionCallArguments"),
  }),
  tools: fields("", {
    functionDeclarations: fields("name description behavior parametersJsonSchema response responseJsonSchema", {
      parameters: googleSchema,
    }),
  }),
});

// @mistralai/mistralai 2.7.0, esm/models/components: ChatCompletionStreamRequest$Outbound and its parts.
const mistralChunks = by("type", {
  text: fields("type text"),
  image_url: fields("type", { image_url: fields("url detail") }),
  document_url: fields("type document_url document_name"),
  thinking: fields("type signature closed", { thinking: fields("type text") }),
});
const mistral = fields(
  "model temperature top_p max_tokens stream stop random_seed metadata response_format tool_choice presence_penalty " +
    "frequency_penalty n prediction parallel_tool_calls reasoning_effort prompt_mode guardrails prompt_cache_key " +
    "service_tier safe_prompt",
  {
    messages: by("role", {
      system: fields("role", { content: mistralChunks }),
      user: fields("role", { content: mistralChunks }),
      assistant: fields("role prefix", {
        content: mistralChunks,
        tool_calls: fields("id type index", { function: fields("name arguments") }),
      }),
      tool: fields("role tool_call_id name", { content: mistralChunks }),
    }),
    tools: fields("type", { function: fields("name description strict parameters") }),
  },
);

// groq-sdk 1.6.0, resources/chat/completions.d.ts: ChatCompletionCreateParamsBase and its messages.
const groqText = fields("type text");
const groq = fields(
  "model citation_options compound_custom disable_tool_validation documents exclude_domains frequency_penalty " +
    "function_call functions include_domains include_reasoning logit_bias logprobs max_completion_tokens max_tokens " +
    "metadata n parallel_tool_calls presence_penalty reasoning_effort reasoning_format response_format search_settings " +
    "seed service_tier stop store stream temperature tool_choice top_logprobs top_p user",
  {
    messages: by("role", {
      system: fields("role name", { content: groqText }),
      user: fields("role name", {
        content: by("type", { text: groqText, image_url: fields("type", { image_url: fields("url detail") }) }),
      }),
      assistant: fields("role name function_call reasoning", {
        content: groqText,
        tool_calls: fields("id type", { function: fields("name arguments") }),
      }),
      tool: fields("role tool_call_id", { content: groqText }),
    }),
    tools: fields("type", { function: fields("name description parameters strict") }),
  },
);

// @aws-sdk/client-bedrock-runtime 3.1164.0, dist-types/models/models_0.d.ts: ConverseStreamRequest; its modelId is in the
// address.
const cachePoint = { cachePoint: fields("type ttl") };
const converseImage = { image: fields("format error", { source: fields("bytes s3Location") }) };
const converseDocument = {
  document: fields("format name context citations", { source: fields("bytes s3Location text content") }),
};
const converse = fields(
  "guardrailConfig additionalModelRequestFields promptVariables additionalModelResponseFieldPaths requestMetadata " +
    "performanceConfig serviceTier outputConfig",
  {
    messages: fields("role", {
      content: fields("text video audio guardContent citationsContent searchResult toolAddition toolRemoval", {
        ...converseImage,
        ...converseDocument,
        ...cachePoint,
        toolUse: fields("toolUseId name input type"),
        toolResult: fields("toolUseId status type", {
          content: fields("json text video searchResult", { ...converseImage, ...converseDocument }),
        }),
        reasoningContent: fields("redactedContent", { reasoningText: fields("text signature") }),
      }),
    }),
    system: fields("text guardContent", cachePoint),
    inferenceConfig: fields("maxTokens temperature topP stopSequences"),
    toolConfig: fields("", {
      tools: fields("systemTool", {
        toolSpec: fields("name description strict", { inputSchema: fields("json") }),
        ...cachePoint,
      }),
      toolChoice: fields("auto any tool"),
    }),
  },
);

/** By the name of the provider. */
const BODIES: Readonly<Record<string, Fields>> = {
  "openai-chat": chat(),
  openai: responses,
  // The same package has AzureOpenAI with the same types.
  azure: responses,
  // xAI documents OpenAI's package: https://docs.x.ai/docs/guides/chat.
  xai: responses,
  anthropic,
  google,
  mistral,
  groq,
  // https://api-docs.deepseek.com/guides/thinking_mode: OpenAI's package with two more fields.
  deepseek: chat(also(chatAssistant, "reasoning_content"), "thinking"),
  "amazon-bedrock": converse,
  // Servers that show reasoning take it back in the same field:
  // https://docs.vllm.ai/en/latest/features/reasoning_outputs.html.
  "openai-compatible": chat(also(chatAssistant, "reasoning_content reasoning")),
  ollama: chat(also(chatAssistant, "reasoning_content reasoning")),
};

/** Lists fields of a request that its provider's SDK does not know, as paths: `messages[0].content[1].oops`. */
export function unknownFields(provider: string, body: unknown): string[] {
  const shape = BODIES[provider];
  if (!shape) throw new Error(`no fields for ${provider}`);
  const found: string[] = [];
  visit(body, shape, "", found);
  return found;
}

function visit(value: unknown, shape: Shape, path: string, found: string[]): void {
  if (Array.isArray(value)) for (const [index, item] of value.entries()) visit(item, shape, `${path}[${index}]`, found);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return;
  const known = value as Readonly<Record<string, unknown>>;
  const at = (name: string) => (path === "" ? name : `${path}.${name}`);
  if ("each" in shape) {
    for (const [name, inner] of Object.entries(known)) visit(inner, shape.each, at(name), found);
    return;
  }
  let own: Fields | undefined;
  if ("key" in shape) {
    const kind = String(known[shape.key] ?? "");
    own = Object.hasOwn(shape.variants, kind) ? shape.variants[kind] : undefined;
    if (!own) found.push(`${at(shape.key)} is "${kind}"`);
  } else own = shape;
  if (!own) return;
  for (const [name, inner] of Object.entries(known)) {
    const innerShape = Object.hasOwn(own.shapes, name) ? own.shapes[name] : undefined;
    if (!own.names.has(name)) found.push(at(name));
    else if (innerShape) visit(inner, innerShape, at(name), found);
  }
}
