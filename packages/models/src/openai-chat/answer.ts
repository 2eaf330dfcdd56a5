import { ModelError, type Usage } from "@banyan/core";
import { cleanUsage, noUsage, type ProviderData } from "@banyan/core/conversation";
import { type FinishReason, finishReason, type ModelPart, TextCalls, ThinkTags } from "@banyan/core/drivers";
import { isJsonRecord, type JsonRecord } from "@banyan/core/shown";
import { Batch } from "../wire/batch.ts";
import { type Endpoint, errorIn, errorInAnswer, errorOfEnd, parseEvent } from "../wire/errors.ts";
import { countAt, textAt } from "../wire/json.ts";
import { RepeatedDocuments } from "../wire/repeated-documents.ts";
import type { AnswerDecoder } from "../wire/response.ts";
import { laterUsage } from "../wire/usage.ts";
import { CallAssembly } from "./calls.ts";
import { kept, REASONING_FIELDS, type ReasoningField } from "./messages.ts";
import { ReasoningDetails } from "./reasoning-details.ts";

const NONE: ReadonlySet<string> = new Set();
const NOTHING_WRITTEN = { text: "", calls: [] } as const;

/** The keys that this decoder reads in a chunk. Other fields, such as OpenAI's `obfuscation`, may have any value. */
const MEANINGFUL: ReadonlySet<string> = new Set([
  ...["error", "object", "type", "response", "message", "detail", "choices", "usage", "model", "delta"],
  ...["finish_reason", "role", "content", "refusal", "tool_calls", "function_call", "annotations"],
  ...["reasoning_details", ...REASONING_FIELDS],
]);

/**
 * Decodes one answer of the chat completions API, streamed or whole
 * (https://platform.openai.com/docs/api-reference/chat/streaming). `take` returns the parts that have arrived. `finish`
 * comes only from `end`, because the usage follows the finish reason. Throws `ModelError` for an error of the server
 * and for an invalid answer.
 */
export class ChatAnswer implements AnswerDecoder {
  readonly #endpoint: Endpoint;
  readonly #batch = new Batch();
  readonly #calls: CallAssembly;
  readonly #details = new ReasoningDetails();
  /** Separates reasoning from the answer if a server sends both as content. */
  #tags: ThinkTags;
  /** Reads calls that the model writes as text, until the first regular call. */
  #textCalls: TextCalls | undefined;
  #reasoning: ReasoningField | undefined;
  #hasField = false;
  /** Reads chunks that only continue the same part: text, reasoning, or the arguments of a call. */
  readonly #repeated = new RepeatedDocuments(MEANINGFUL);
  #finish: FinishReason | undefined;
  #usage: Usage = noUsage;
  #model: string | undefined;
  #content = false;
  #refused = false;
  #done = false;

  /** `offered`: names of the tools in the request. `readsTextCalls`: calls that the model writes as text count. */
  constructor(endpoint: Endpoint, offered: ReadonlySet<string> = NONE, readsTextCalls = true) {
    this.#endpoint = endpoint;
    this.#tags = new ThinkTags(endpoint.model);
    this.#textCalls = readsTextCalls && offered.size > 0 ? new TextCalls(offered) : undefined;
    this.#calls = new CallAssembly(this.#batch, this.#provider, offered);
  }

  get done(): boolean {
    return this.#done;
  }

  /** True if the model has ended its answer. The usage may still be missing. */
  get answered(): boolean {
    return this.#done || this.#finish !== undefined;
  }

  data(text: string): void {
    if (this.#done || text === "") return;
    if (text.startsWith("[DONE]")) {
      this.#done = true;
      return;
    }
    if (this.#repeated.read(text)) return;
    const chunk = this.#parsed(text);
    if (!chunk) return;
    if (typeof chunk.model === "string") this.#model = chunk.model;
    if (isJsonRecord(chunk.usage)) this.#usage = cleanUsage(laterUsage(this.#usage, chatUsage(chunk.usage)));

    const choice: unknown = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
    if (!isJsonRecord(choice)) return;
    const delta = choice.delta ?? choice.message;
    if (isJsonRecord(delta)) {
      this.#delta(delta);
      if (this.#repeated.learns) this.#learn(text, delta, choice, chunk);
    }
    const reason = textAt(choice, "finish_reason");
    if (reason !== "" && reason !== "null") this.#finish = finishReason("chat", reason, this.#endpoint.id);
  }

  /** Parses a chunk. After the finish reason the answer is whole, so a later broken chunk is ignored (F53). */
  #parsed(text: string): JsonRecord | undefined {
    const isWhole = this.#finish !== undefined;
    try {
      const chunk = parseEvent(this.#endpoint, text);
      const error = errorIn(chunk, "choices" in chunk || "usage" in chunk);
      if (error === undefined) return chunk;
      throw errorInAnswer(this.#endpoint, error);
    } catch (error) {
      if (isWhole && error instanceof ModelError) return undefined;
      throw error;
    }
  }

  /** Ends the answer: completes the calls and adds `finish`. Throws `broken-stream` if the answer cannot be whole. */
  end(): void {
    this.#endContent(this.#calls.any);
    if (this.#finish === undefined && !(this.#done && this.#content)) {
      throw errorOfEnd(this.#endpoint);
    }
    // Keep the details with the last part: reasoning at the end of an answer is not sent to a model again.
    const details = this.#details.all;
    const data = details.length === 0 ? undefined : { [kept.answer]: details };
    this.#endReasoning(this.#calls.any ? undefined : data);
    this.#calls.end(data);
    const reason = this.#finish ?? "stop";
    this.#batch.add({
      type: "finish",
      reason: this.#reasonWith(reason),
      usage: this.#usage,
      ...(this.#model !== undefined && this.#model !== this.#endpoint.model ? { model: this.#model } : {}),
    });
  }

  take(): readonly ModelPart[] {
    return this.#batch.take();
  }

  /** The key of this provider's own data. */
  get #provider(): string {
    return this.#endpoint.id.split("/", 1)[0] ?? this.#endpoint.id;
  }

  #delta(delta: Readonly<Record<string, unknown>>): void {
    const field = REASONING_FIELDS.find((name) => textAt(delta, name) !== "");
    if (field) this.#say(field, textAt(delta, field));
    if (Array.isArray(delta.reasoning_details)) this.#details.add(delta.reasoning_details);
    if (typeof delta.content === "string") this.#say(undefined, delta.content);
    else if (Array.isArray(delta.content)) this.#segments(delta.content);
    const refusal = textAt(delta, "refusal");
    if (refusal !== "") this.#refused = true;
    this.#say(undefined, refusal);
    if (Array.isArray(delta.tool_calls)) {
      for (const piece of delta.tool_calls) if (isJsonRecord(piece)) this.#call(piece);
    }
    if (isJsonRecord(delta.function_call)) this.#call({ index: 0, function: delta.function_call });
    if (Array.isArray(delta.annotations)) this.#sources(delta.annotations);
  }

  /** Learns the form of a chunk that only has a fragment of text, of reasoning or of a call's arguments. */
  #learn(chunk: string, delta: JsonRecord, ...around: readonly JsonRecord[]): void {
    let said: string | undefined;
    for (const key of Object.keys(delta)) {
      if (key === "role" || !MEANINGFUL.has(key) || delta[key] === null || delta[key] === "") continue;
      if (said !== undefined) return;
      said = key;
    }
    if (said === "tool_calls") return this.#learnCall(chunk, delta, ...around);
    const field = REASONING_FIELDS.find((name) => name === said);
    if (field === undefined && said !== "content") return;
    const say = (text: string) => this.#say(field, text);
    this.#repeated.learn(chunk, textAt(delta, field ?? "content"), say, delta, ...around);
  }

  #learnCall(chunk: string, delta: JsonRecord, ...around: readonly JsonRecord[]): void {
    const pieces = delta.tool_calls;
    const piece: unknown = Array.isArray(pieces) && pieces.length === 1 ? pieces[0] : undefined;
    if (!isJsonRecord(piece) || !isJsonRecord(piece.function)) return;
    const fn = piece.function;
    const say = (text: string) => this.#call({ ...piece, function: { ...fn, arguments: text } });
    this.#repeated.learn(chunk, textAt(fn, "arguments"), say, delta, ...around);
  }

  #say(field: ReasoningField | undefined, text: string): void {
    if (field !== undefined) {
      // A server with a field for reasoning sends no reasoning in the content.
      if (!this.#hasField) this.#tags = new ThinkTags("");
      this.#hasField = true;
      this.#text("reasoning", text, field);
    } else if (this.#tags.isOver) this.#answer(text);
    else this.#sayTagged(text);
  }

  /** A separate function, so that the engine inlines the others. */
  #sayTagged(text: string): void {
    for (const piece of this.#tags.take(text)) this.#piece(piece.type, piece.text);
  }

  #piece(type: "text" | "reasoning", text: string): void {
    if (type === "text") this.#answer(text);
    else this.#text("reasoning", text);
  }

  #answer(text: string): void {
    this.#text("text", this.#textCalls === undefined ? text : this.#textCalls.take(text));
  }

  /** Ends the content: buffered text becomes reasoning, text or calls; only text with `asText`. */
  #endContent(asText: boolean): void {
    for (const { type, text } of this.#tags.end()) this.#piece(type, text);
    const { text, calls } = this.#textCalls?.end(asText) ?? NOTHING_WRITTEN;
    this.#textCalls = undefined;
    this.#text("text", text);
    for (const { tool, input } of calls) this.#call({ function: { name: tool, arguments: input } });
  }

  #text(type: "text" | "reasoning", text: string, field?: ReasoningField): void {
    if (text === "") return;
    if (field !== this.#reasoning) this.#endReasoning();
    this.#reasoning = field;
    this.#content = true;
    this.#batch.text(type, text);
  }

  /** Ends the current reasoning and records its field. `data`: provider data for the last part. */
  #endReasoning(data?: ProviderData[string]): void {
    const own = this.#reasoning ? { [kept.reasoning]: this.#reasoning, ...data } : data;
    this.#reasoning = undefined;
    if (own) this.#batch.add({ type: "part-end", provider: { [this.#provider]: own } });
  }

  #call(piece: Readonly<Record<string, unknown>>): void {
    if (this.#textCalls !== undefined || !this.#tags.isOver) this.#endContent(true);
    this.#endReasoning();
    this.#content = true;
    this.#calls.add(piece);
  }

  /** Content as a list of segments, as Mistral sends it for its reasoning models. */
  #segments(segments: readonly unknown[]): void {
    for (const segment of segments) {
      if (!isJsonRecord(segment)) continue;
      if (segment.type === "text") this.#text("text", textAt(segment, "text"));
      if (segment.type === "thinking" && Array.isArray(segment.thinking)) {
        for (const thought of segment.thinking)
          if (isJsonRecord(thought)) this.#text("reasoning", textAt(thought, "text"));
      }
    }
  }

  #sources(annotations: readonly unknown[]): void {
    for (const annotation of annotations) {
      const cited = isJsonRecord(annotation) ? annotation.url_citation : undefined;
      if (!isJsonRecord(cited) || typeof cited.url !== "string") continue;
      const title = textAt(cited, "title");
      this.#batch.add({ type: "source", url: cited.url, ...(title === "" ? {} : { title }) });
    }
  }

  /** Servers report different reasons for an answer with calls, and OpenAI reports `stop` after a refusal. */
  #reasonWith(reason: FinishReason): FinishReason {
    if (reason === "stop" && this.#refused) return "filtered";
    if (reason === "stop" && this.#calls.any) return "calls";
    if (reason === "calls" && !this.#calls.any) return "stop";
    return reason;
  }
}

function chatUsage(usage: Readonly<Record<string, unknown>>): Usage {
  const prompt = isJsonRecord(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const completion = isJsonRecord(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
  const input = countAt(usage, "prompt_tokens");
  const answer = countAt(usage, "completion_tokens");
  const reasoning = countAt(completion, "reasoning_tokens");
  // Some providers exclude reasoning from `completion_tokens`; `total_tokens` shows whether.
  const apart = reasoning > 0 && countAt(usage, "total_tokens") === input + answer + reasoning;
  return {
    input,
    cached: countAt(prompt, "cached_tokens") || countAt(usage, "prompt_cache_hit_tokens"),
    cacheWrite: countAt(prompt, "cache_write_tokens"),
    output: apart ? answer + reasoning : answer,
    reasoning,
  };
}
