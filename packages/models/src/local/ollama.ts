import type { ModelDriver, ModelSettings } from "@banyan/core";
import { type ModelRequest, type PromptMessage, rulesFor, withProviderRules } from "@banyan/core/drivers";
import { isJsonRecord, type JsonRecord } from "@banyan/core/shown";
import { ChatAnswer } from "../openai-chat/answer.ts";
import { encodeChatMessage, type OpenAIMessage, type OpenAIUserPart } from "../openai-chat/messages.ts";
import type { ListBody } from "../wire/body.ts";
import { encodeText } from "../wire/bytes.ts";
import { WireClient, type WireOptions } from "../wire/client.ts";
import { type Endpoint, parseEvent } from "../wire/errors.ts";
import { countAt, textAt } from "../wire/json.ts";

/** Options of a model on an Ollama server. */
export interface OllamaOptions extends WireOptions {
  /** The address without `/v1`. */
  readonly baseURL: string;
  /** Returns the window to request in tokens; `undefined`: the server decides. Called for each request. */
  readonly window: () => number | undefined;
  readonly textCalls?: boolean | undefined;
}

/**
 * Creates a driver for Ollama's own chat API (https://docs.ollama.com/api/chat). This API can set a model's window
 * (`num_ctx`), and can refuse a prompt that is too long (`truncate: false`). Ollama's OpenAI-compatible API can do
 * neither.
 */
export function ollamaChat(options: OllamaOptions): ModelDriver {
  const { apiKey, model, takes, textCalls, window } = options;
  const client = new WireClient(options, {
    name: "Ollama",
    path: "/api/chat",
    headers: apiKey ? { authorization: `Bearer ${apiKey}` } : {},
  });
  const provider = options.id.split("/", 1)[0] ?? options.id;
  const rules = rulesFor(`${provider}.chat`, model);
  const driver: ModelDriver = {
    ...client.facts,
    family: "ollama",
    async stream(request, sink, signal) {
      signal.throwIfAborted();
      // Encode before the first await: the list of messages grows later.
      const body = encodeOllamaRequest({ model, provider, takes, window: window() }, request);
      const offered = new Set(request.tools.map(({ name }) => name));
      await client.send(body, new OllamaAnswer(client.endpoint, offered, textCalls), sink, signal);
    },
  };
  return withProviderRules(driver, { rules, provider, takes });
}

interface OllamaRequestShape {
  readonly model: string;
  readonly provider: string;
  readonly takes: readonly string[] | undefined;
  readonly window: number | undefined;
}

/** Fields of a request; other `providerOptions` are options of the model. */
const FIELDS = new Set(["format", "keep_alive", "think", "shift", "logprobs", "top_logprobs", "options"]);

function encodeOllamaRequest(shape: OllamaRequestShape, request: ModelRequest): ListBody {
  const { instructions, settings } = request;
  const messages: OllamaMessage[] = instructions === "" ? [] : [{ role: "system", content: instructions }];
  for (const message of request.messages) messages.push(...encodeMessage(message, shape));
  const own = Object.entries(settings.providerOptions?.[shape.provider] ?? {});
  const fields = Object.fromEntries(own.filter(([name]) => FIELDS.has(name)));
  const head = {
    model: shape.model,
    stream: true,
    truncate: false,
    think: thinkOf(settings),
    format: request.output,
    ...fields,
    options: {
      num_ctx: shape.window,
      temperature: settings.temperature,
      top_p: settings.topP,
      seed: settings.seed,
      num_predict: settings.maxTokens,
      stop: settings.stop,
      ...Object.fromEntries(own.filter(([name]) => !FIELDS.has(name))),
      ...(isJsonRecord(fields.options) ? fields.options : {}),
    },
  };
  // The format cannot forbid calls, so a request without calls offers no tools.
  const offered = request.toolChoice === "none" ? [] : request.tools;
  const tools = offered.map(({ name, description, input }) => ({
    type: "function",
    function: { name, description, parameters: input },
  }));
  const pieces = messages.map((message) => encodeText(`,${JSON.stringify(message)}`));
  const after = tools.length === 0 ? "]}" : `],"tools":${JSON.stringify(tools)}}`;
  return { of: request.messages, before: `${JSON.stringify(head).slice(0, -1)},"messages":[`, pieces, after };
}

function thinkOf({ effort }: ModelSettings): boolean | string | undefined {
  if (effort === "none") return false;
  return effort === "minimal" ? "low" : effort;
}

interface OllamaMessage {
  readonly role: string;
  readonly content: string;
  readonly thinking?: string;
  /** Base64. */
  readonly images?: readonly string[];
  readonly tool_calls?: readonly object[];
  readonly tool_call_id?: string;
  readonly tool_name?: string;
}

function encodeMessage(message: PromptMessage, { provider, takes }: OllamaRequestShape): OllamaMessage[] {
  const tools = new Map(message.role === "assistant" ? message.results.map(({ call, tool }) => [call, tool]) : []);
  return encodeChatMessage(message, provider, takes).messages.map((encoded) => translated(encoded, tools));
}

function translated(message: OpenAIMessage, tools: ReadonlyMap<string, string>): OllamaMessage {
  switch (message.role) {
    case "tool": {
      const { content, tool_call_id } = message;
      const tool = tools.get(tool_call_id);
      return { role: "tool", content, tool_call_id, ...(tool === undefined ? {} : { tool_name: tool }) };
    }
    case "assistant": {
      const { content, tool_calls } = message;
      const thinking = textAt({ ...message }, "reasoning") || textAt({ ...message }, "reasoning_content");
      return {
        role: "assistant",
        content: content ?? "",
        ...(thinking === "" ? {} : { thinking }),
        ...(tool_calls && {
          tool_calls: tool_calls.map(({ id, function: { name, arguments: input } }, index) => ({
            id,
            function: { index, name, arguments: JSON.parse(input) },
          })),
        }),
      };
    }
    case "user": {
      const parts =
        typeof message.content === "string" ? [{ type: "text", text: message.content } as const] : message.content;
      const images = parts.flatMap((part) => (part.type === "image_url" ? base64In(part.image_url.url) : []));
      const content = parts
        .map(textOfPart)
        .filter((text) => text !== "")
        .join("\n\n");
      return { role: "user", content, ...(images.length > 0 ? { images } : {}) };
    }
  }
}

function textOfPart(part: OpenAIUserPart): string {
  if (part.type === "text") return part.text;
  return part.type === "file" ? `[${part.file.filename} is left out: Ollama takes texts and pictures only]` : "";
}

function base64In(url: string): string {
  return url.slice(url.indexOf(",") + 1);
}

/** Decodes Ollama's lines of JSON as chunks of the chat completions format. The last line has the counts. */
class OllamaAnswer extends ChatAnswer {
  readonly #endpoint: Endpoint;
  #calls = 0;

  constructor(endpoint: Endpoint, offered: ReadonlySet<string>, readsTextCalls?: boolean) {
    super(endpoint, offered, readsTextCalls);
    this.#endpoint = endpoint;
  }

  override data(text: string): void {
    if (text.trim() === "") return;
    const line = parseEvent(this.#endpoint, text);
    if (!isJsonRecord(line.message)) {
      super.data(text);
      return;
    }
    super.data(JSON.stringify(this.#chunkOf(line, line.message)));
    if (line.done === true) super.data("[DONE]");
  }

  #chunkOf(line: JsonRecord, message: JsonRecord): object {
    const calls = Array.isArray(message.tool_calls) ? message.tool_calls.filter(isJsonRecord) : [];
    const delta = {
      content: textAt(message, "content"),
      reasoning: textAt(message, "thinking"),
      // Ollama sends whole calls, and numbers them per line.
      ...(calls.length > 0 ? { tool_calls: calls.map((call) => ({ ...call, index: this.#calls++ })) } : {}),
    };
    const finish = line.done === true ? textAt(line, "done_reason") || "stop" : null;
    const input = countAt(line, "prompt_eval_count");
    const output = countAt(line, "eval_count");
    return {
      model: line.model,
      choices: [{ index: 0, delta, finish_reason: finish }],
      ...(finish === null ? {} : { usage: { prompt_tokens: input, completion_tokens: output } }),
    };
  }
}
