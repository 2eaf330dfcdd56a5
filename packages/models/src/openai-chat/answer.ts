import { ModelError, type Usage } from "@banyan/core";
import { cleanUsage, noUsage, type ProviderData } from "@banyan/core/conversation";
import { type FinishReason, finishReason, type ModelPart, TextCalls, ThinkTags } from "@banyan/core/drivers";
import { Batch } from "../wire/batch.ts";
import { type Endpoint, errorIn, errorInAnswer, errorOfEnd, parseEvent } from "../wire/errors.ts";
import { countAt, isRecord, type JsonRecord, textAt } from "../wire/json.ts";
import { Repeated } from "../wire/repeated.ts";
import type { Answer } from "../wire/response.ts";
import { CallAssembly } from "./calls.ts";
import { kept, REASONING_FIELDS, type ReasoningField } from "./messages.ts";
import { ReasoningDetails } from "./reasoning-details.ts";

const NONE: ReadonlySet<string> = new Set();
const NOTHING_WRITTEN = { text: "", calls: [] } as const;

/**
 * Decodes one answer of the chat completions format, streamed or whole
 * (https://platform.openai.com/docs/api-reference/chat/streaming).
 *
 * What is decoded waits in a batch until `take`. The `finish` part comes with `end`, because the usage is told after
 * the reason. Throws `ModelError` on what the server reports as an error or what is not of the format.
 */
export class ChatAnswer implements Answer {
  readonly #endpoint: Endpoint;
  readonly #batch = new Batch();
  readonly #calls: CallAssembly;
  readonly #details = new ReasoningDetails();
  /** Tells reasoning from the answer where a server sends both as content. */
  #tags: ThinkTags;
  /** Reads calls that are written as text, until a call comes as such. */
  #textCalls: TextCalls | undefined;
  /** In which field the reasoning comes that streams now, if any does. */
  #reasoning: ReasoningField | undefined;
  #hasField = false;
  /** Chunks that say the next bit of the same: of the text, of reasoning, of the arguments of a call. */
  readonly #repeated = new Repeated();
  #finish: FinishReason | undefined;
  #usage: Usage = noUsage;
  #model: string | undefined;
  #content = false;
  #refused = false;
  #done = false;

  /**
   * @param offered The names of the tools in the request.
   * @param readsTextCalls Whether calls that are written as text count.
   */
  constructor(endpoint: Endpoint, offered: ReadonlySet<string> = NONE, readsTextCalls = true) {
    this.#endpoint = endpoint;
    this.#tags = new ThinkTags(endpoint.model);
    this.#textCalls = readsTextCalls && offered.size > 0 ? new TextCalls(offered) : undefined;
    this.#calls = new CallAssembly(this.#batch, this.#provider, offered);
  }

  /** The server has said that it is done: nothing of interest follows. */
  get done(): boolean {
    return this.#done;
  }

  /** Whether the model has ended its answer, although the usage may still be missing. */
  get answered(): boolean {
    return this.#done || this.#finish !== undefined;
  }

  /** The data of one event, or the whole answer of a server that does not stream. */
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
    if (isRecord(chunk.usage)) this.#usage = cleanUsage(laterUsage(this.#usage, usageOf(chunk.usage)));

    const choice: unknown = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
    if (!isRecord(choice)) return;
    const delta = choice.delta ?? choice.message;
    if (isRecord(delta)) {
      this.#delta(delta);
      if (this.#repeated.learns) this.#learn(text, delta);
    }
    const reason = textAt(choice, "finish_reason");
    if (reason !== "" && reason !== "null") this.#finish = finishReason("chat", reason, this.#endpoint.id);
  }

  /** The chunk in an event. After the reason to finish the answer is whole, whatever else comes (F53). */
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

  /** The answer is over: ends the calls and adds `finish`. Throws `broken-stream` when it cannot be whole. */
  end(): void {
    this.#endContent(this.#calls.any);
    if (this.#finish === undefined && !(this.#done && this.#content)) {
      throw errorOfEnd(this.#endpoint);
    }
    // On the last thing that stays: reasoning behind which nothing follows is not shown to a model again.
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

  /** What was decoded since the last time. */
  take(): readonly ModelPart[] {
    return this.#batch.take();
  }

  /** Under whose name is kept what only it understands. */
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
      for (const piece of delta.tool_calls) if (isRecord(piece)) this.#call(piece);
    }
    if (isRecord(delta.function_call)) this.#call({ index: 0, function: delta.function_call });
    if (Array.isArray(delta.annotations)) this.#sources(delta.annotations);
  }

  /** Takes note of a chunk that says a bit of text, of reasoning or of a call's arguments, and nothing else. */
  #learn(chunk: string, delta: JsonRecord): void {
    let said: string | undefined;
    for (const key of Object.keys(delta)) {
      if (key === "role" || delta[key] === null || delta[key] === "") continue;
      if (said !== undefined) return;
      said = key;
    }
    if (said === "tool_calls") return this.#learnCall(chunk, delta.tool_calls);
    const field = REASONING_FIELDS.find((name) => name === said);
    if (field === undefined && said !== "content") return;
    this.#repeated.learn(chunk, textAt(delta, field ?? "content"), (text) => this.#say(field, text));
  }

  #learnCall(chunk: string, pieces: unknown): void {
    const piece: unknown = Array.isArray(pieces) && pieces.length === 1 ? pieces[0] : undefined;
    if (!isRecord(piece) || !isRecord(piece.function)) return;
    const fn = piece.function;
    this.#repeated.learn(chunk, textAt(fn, "arguments"), (text) => {
      this.#call({ ...piece, function: { ...fn, arguments: text } });
    });
  }

  #say(field: ReasoningField | undefined, text: string): void {
    if (field !== undefined) {
      // A server that has a field for reasoning leaves it out of the content.
      if (!this.#hasField) this.#tags = new ThinkTags("");
      this.#hasField = true;
      this.#text("reasoning", text, field);
    } else if (this.#tags.isOver) this.#answer(text);
    else this.#sayTagged(text);
  }

  /** Apart from the others, so that the engine inlines those. */
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

  /** No more content: what was kept back is reasoning, text or calls; text alone with `asText`. */
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

  /** Ends the reasoning that streams, with its field. `data`: what is kept with whatever was said last. */
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
      if (!isRecord(segment)) continue;
      if (segment.type === "text") this.#text("text", textAt(segment, "text"));
      if (segment.type === "thinking" && Array.isArray(segment.thinking)) {
        for (const thought of segment.thinking) if (isRecord(thought)) this.#text("reasoning", textAt(thought, "text"));
      }
    }
  }

  #sources(annotations: readonly unknown[]): void {
    for (const annotation of annotations) {
      const cited = isRecord(annotation) ? annotation.url_citation : undefined;
      if (!isRecord(cited) || typeof cited.url !== "string") continue;
      const title = textAt(cited, "title");
      this.#batch.add({ type: "source", url: cited.url, ...(title === "" ? {} : { title }) });
    }
  }

  /** Servers disagree on the reason of an answer that calls tools, and OpenAI stops after a refusal as after any text. */
  #reasonWith(reason: FinishReason): FinishReason {
    if (reason === "stop" && this.#refused) return "filtered";
    if (reason === "stop" && this.#calls.any) return "calls";
    if (reason === "calls" && !this.#calls.any) return "stop";
    return reason;
  }
}

/** Servers tell the usage once or again and again; a 0 at the end never overwrites a count (F65). */
function laterUsage(before: Usage, later: Usage): Usage {
  return {
    input: later.input || before.input,
    cached: later.cached || before.cached,
    cacheWrite: later.cacheWrite || before.cacheWrite,
    output: later.output || before.output,
    reasoning: later.reasoning || before.reasoning,
  };
}

function usageOf(usage: Readonly<Record<string, unknown>>): Usage {
  const prompt = isRecord(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const completion = isRecord(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
  const input = countAt(usage, "prompt_tokens");
  const answer = countAt(usage, "completion_tokens");
  const reasoning = countAt(completion, "reasoning_tokens");
  // Some providers leave the reasoning out of `completion_tokens`; the total tells.
  const apart = reasoning > 0 && countAt(usage, "total_tokens") === input + answer + reasoning;
  return {
    input,
    cached: countAt(prompt, "cached_tokens") || countAt(usage, "prompt_cache_hit_tokens"),
    cacheWrite: countAt(prompt, "cache_write_tokens"),
    output: apart ? answer + reasoning : answer,
    reasoning,
  };
}
