import { type Json, ModelError, type Usage } from "@banyan/core";
import { cleanUsage, noUsage } from "@banyan/core/conversation";
import { type FinishReason, finishReason, type ModelPart, type ProviderAction } from "@banyan/core/drivers";
import { isJsonRecord, type JsonRecord } from "@banyan/core/shown";
import { Batch } from "../wire/batch.ts";
import { type Endpoint, errorIn, errorInAnswer, errorOfEnd, parseEvent } from "../wire/errors.ts";
import { textAt } from "../wire/json.ts";
import { RepeatedDocuments } from "../wire/repeated-documents.ts";
import type { AnswerDecoder } from "../wire/response.ts";
import { StreamedCalls } from "./answer-calls.ts";
import { clientCall } from "./client-calls.ts";
import { HostedActions } from "./hosted-actions.ts";
import type { ItemData } from "./item.ts";
import type { ResponsesProvider } from "./provider.ts";
import type { HostedTools } from "./server-tools.ts";
import { responsesUsage } from "./usage.ts";

/** Fields that this decoder reads in an event with a fragment. */
const MEANINGFUL: ReadonlySet<string> = new Set([
  ...["type", "delta", "output_index", "item_id", "content_index", "summary_index"],
  ...["error", "object", "response", "message", "detail"],
]);

/** The request that an answer belongs to. */
export interface AnsweredRequest {
  readonly provider: ResponsesProvider;
  /** Names of the tools in the request. */
  readonly offered: ReadonlySet<string>;
  readonly hosted: HostedTools;
}

/** An item of an answer. Its id may differ between events, but its index stays. */
interface StreamedItem {
  /** The item as its first event has it. */
  readonly first: JsonRecord;
  readonly annotations: Json[];
  /** True if text of the item has arrived. */
  said: boolean;
  ended: boolean;
}

interface StreamedBlock {
  readonly type: "text" | "reasoning";
  readonly item: unknown;
  /** The paragraph of reasoning. */
  readonly paragraph: number;
  /** Provider data that must be sent back. */
  own: ItemData | undefined;
  empty: boolean;
}

/** Events with the next fragment of an item. */
const DELTAS: ReadonlySet<string> = new Set([
  "response.output_text.delta",
  "response.refusal.delta",
  "response.reasoning_summary_text.delta",
  "response.reasoning_text.delta",
  "response.function_call_arguments.delta",
]);

/** Ends of an answer, by type of event. `response.done` is xAI's. */
const ENDS = /^response\.(completed|incomplete|failed|cancelled|done)$/;

/**
 * Decodes one answer of the Responses API (https://platform.openai.com/docs/api-reference/responses-streaming), streamed
 * or whole. Returns the parts so far from `take`, and `finish` after `end`. Ignores unknown events and items, as the
 * format requires. Throws `ModelError` for an error of the server and for an invalid answer.
 */
export class ResponsesAnswer implements AnswerDecoder {
  readonly #endpoint: Endpoint;
  readonly #provider: ResponsesProvider;
  readonly #batch = new Batch();
  readonly #calls: StreamedCalls;
  readonly #hosted: HostedActions;
  readonly #names: ReadonlyMap<string, string>;
  /** Events with the next fragment of the same item. */
  readonly #repeated = new RepeatedDocuments(MEANINGFUL);
  readonly #items = new Map<unknown, StreamedItem>();
  #block: StreamedBlock | undefined;
  /** Citations, which count only if no search lists its sources. */
  readonly #cited: Extract<ModelPart, { type: "source" }>[] = [];
  readonly #sources = new Set<string>();
  #searched = false;
  /** True if text has arrived. */
  #said = false;
  #refused = false;
  #finish: FinishReason | undefined;
  #usage: Usage = noUsage;
  #model = "";

  constructor(endpoint: Endpoint, { provider, offered, hosted }: AnsweredRequest) {
    this.#endpoint = endpoint;
    this.#provider = provider;
    this.#names = hosted.names;
    this.#hosted = new HostedActions(provider, hosted);
    this.#calls = new StreamedCalls(this.#batch, provider, offered);
  }

  get done(): boolean {
    return this.#finish !== undefined;
  }

  get answered(): boolean {
    return this.done;
  }

  data(text: string): void {
    if (this.done || text === "" || text.startsWith("[DONE]")) return;
    if (this.#repeated.read(text)) return;
    const event = parseEvent(this.#endpoint, text);
    const error = errorIn(event, typeof event.type === "string" || "output" in event);
    if (error !== undefined) throw errorInAnswer(this.#endpoint, error);
    this.#read(event);
    if (this.#repeated.learns) this.#learn(text, event);
  }

  end(): void {
    this.#close();
    for (const source of this.#cited) if (!this.#searched) this.#batch.add(source);
    if (this.#finish === undefined) throw errorOfEnd(this.#endpoint);
    this.#calls.endAll();
    this.#batch.add({
      type: "finish",
      reason: this.#reason(this.#finish),
      usage: cleanUsage(this.#usage),
      ...(this.#model !== "" && this.#model !== this.#endpoint.model ? { model: this.#model } : {}),
    });
  }

  take(): readonly ModelPart[] {
    return this.#batch.take();
  }

  #read(event: JsonRecord): void {
    const at = event.output_index ?? event.item_id;
    const type = textAt(event, "type");
    if (DELTAS.has(type)) return this.#delta(type, at, paragraphOf(event), textAt(event, "delta"));
    switch (type) {
      case "response.output_item.added":
        if (isJsonRecord(event.item)) this.#begin(event.output_index ?? event.item.id, event.item);
        return;
      case "response.output_item.done":
        if (isJsonRecord(event.item)) this.#end(event.output_index ?? event.item.id, event.item);
        return;
      case "response.reasoning_summary_part.added":
        if (this.#items.has(at)) this.#openReasoning(at, paragraphOf(event));
        return;
      case "response.output_text.annotation.added":
        if (isJsonRecord(event.annotation)) this.#annotate(at, event.annotation);
        return;
      case "response.output_text.done":
        if (this.#items.get(at)?.said === false) this.#say("text", at, 0, textAt(event, "text"));
        if (this.#provider === "xai") this.#annotateAll(at, event.annotations);
        return;
      case "response.code_interpreter_call_code.done":
        return this.#act(this.#hosted.call({ ...this.#items.get(at)?.first, code: event.code }));
      case "response.created":
      case "response.in_progress":
        if (isJsonRecord(event.response)) this.#model = textAt(event.response, "model") || this.#model;
        return;
    }
    if (ENDS.test(type) && isJsonRecord(event.response)) return this.#ended(type, event.response);
    // A server that does not stream sends the response itself.
    if (event.object === "response" && type === "") return this.#ended(`response.${textAt(event, "status")}`, event);
    if (type === "" && Array.isArray(event.choices)) throw wrongFormat(this.#endpoint);
  }

  #delta(type: string, at: unknown, paragraph: number, text: string): void {
    switch (type) {
      case "response.function_call_arguments.delta":
        return this.#calls.grow(at, text);
      case "response.refusal.delta":
        this.#refused = true;
        return this.#say("text", at, 0, text);
      case "response.output_text.delta":
        return this.#say("text", at, 0, text);
      default:
        return this.#say("reasoning", at, paragraph, text);
    }
  }

  /** Learns the form of an event with the next fragment of an item. */
  #learn(document: string, event: JsonRecord): void {
    const type = textAt(event, "type");
    if (!DELTAS.has(type)) return;
    const at = event.output_index ?? event.item_id;
    const paragraph = paragraphOf(event);
    const say = (text: string) => this.#delta(type, at, paragraph, text);
    this.#repeated.learn(document, textAt(event, "delta"), say, event);
  }

  #begin(at: unknown, item: JsonRecord): StreamedItem {
    const known = this.#items.get(at);
    if (known && !known.ended) return known;
    const begun: StreamedItem = { first: item, annotations: [], said: false, ended: false };
    this.#items.set(at, begun);
    if (item.type === "message") this.#open("text", at, 0, this.#textOwn(begun, item));
    else if (item.type === "reasoning") this.#openReasoning(at, 0);
    else if (item.type === "function_call") {
      this.#close();
      this.#calls.begin(at, item);
    } else if (this.#hosted.isHosted(item)) this.#act(this.#hosted.begin(item));
    return begun;
  }

  #end(at: unknown, item: JsonRecord): void {
    const begun = this.#begin(at, item);
    begun.ended = true;
    // Servers may send another id with each event.
    const own: JsonRecord = begun.first.id === undefined ? item : { ...item, id: begun.first.id };
    switch (item.type) {
      case "message":
        return this.#endMessage(at, begun, own);
      case "reasoning":
        return this.#endReasoning(at, begun, own);
      case "function_call":
        this.#close();
        return this.#calls.end(at, own);
    }
    if (this.#hosted.isHosted(item)) {
      this.#act(this.#hosted.end(own));
      return this.#searchSources(item);
    }
    const call = clientCall(own);
    if (!call) return;
    this.#close();
    this.#calls.whole({ ...call, tool: this.#names.get(call.tool) ?? call.tool });
  }

  #endMessage(at: unknown, begun: StreamedItem, item: JsonRecord): void {
    const content = Array.isArray(item.content) ? item.content.filter(isJsonRecord) : [];
    const wasSaid = begun.said;
    const isCited = begun.annotations.length > 0 && this.#provider !== "xai";
    for (const part of content) {
      const isRefusal = part.type === "refusal";
      this.#refused ||= isRefusal;
      // Some servers send the text only with the whole item (F54).
      if (!wasSaid) this.#say("text", at, 0, textAt(part, isRefusal ? "refusal" : "text"));
      if (!isCited) this.#annotateAll(at, part.annotations);
    }
    this.#closeWith(at, this.#textOwn(begun, item));
  }

  #endReasoning(at: unknown, begun: StreamedItem, item: JsonRecord): void {
    const texts = ["summary", "content"].flatMap((key) =>
      Array.isArray(item[key]) ? item[key].filter(isJsonRecord).map((part) => textAt(part, "text")) : [],
    );
    if (!begun.said) for (const [paragraph, text] of texts.entries()) this.#say("reasoning", at, paragraph, text);
    this.#closeWith(at, this.#reasoningOwn(item));
  }

  #textOwn({ first, annotations }: StreamedItem, item: JsonRecord): ItemData | undefined {
    if (this.#provider === "xai" || typeof item.id !== "string") return undefined;
    const phase = item.phase ?? first.phase;
    return {
      itemId: item.id,
      ...(typeof phase === "string" ? { phase } : {}),
      ...(annotations.length > 0 ? { annotations } : {}),
    };
  }

  #reasoningOwn({ id, encrypted_content }: JsonRecord): ItemData {
    const encrypted = typeof encrypted_content === "string" && encrypted_content !== "" ? encrypted_content : null;
    return {
      ...(typeof id === "string" ? { itemId: id } : {}),
      // xAI's package keeps no empty field.
      ...(this.#provider === "xai" && encrypted === null ? {} : { reasoningEncryptedContent: encrypted }),
    };
  }

  #openReasoning(at: unknown, paragraph: number): void {
    const first = this.#items.get(at)?.first ?? {};
    const isXai = this.#provider === "xai";
    // xAI's paragraphs are one part.
    const joined = isXai ? 0 : paragraph;
    if (this.#isOpen("reasoning", at, joined)) return;
    // Encrypted content of an unfinished item counts only at OpenAI.
    this.#open("reasoning", at, joined, this.#reasoningOwn(isXai ? { id: first.id } : first));
  }

  #isOpen(type: StreamedBlock["type"], at: unknown, paragraph: number): boolean {
    const block = this.#block;
    return block !== undefined && block.item === at && block.type === type && block.paragraph === paragraph;
  }

  #open(type: StreamedBlock["type"], item: unknown, paragraph: number, own: ItemData | undefined): void {
    this.#close();
    this.#block = { type, item, paragraph, own, empty: true };
  }

  #say(type: StreamedBlock["type"], at: unknown, paragraph: number, text: string): void {
    if (type === "reasoning") this.#openReasoning(at, paragraph);
    else if (!this.#isOpen(type, at, paragraph)) this.#open(type, at, paragraph, undefined);
    if (text === "") return;
    if (this.#block?.empty) this.#markSaid(this.#block);
    this.#batch.text(type, text);
  }

  /** Closes the block of an item with more data. */
  #closeWith(at: unknown, own: ItemData | undefined): void {
    const block = this.#block;
    if (!block || block.item !== at) return;
    if (own) block.own = { ...block.own, ...own };
    this.#close();
  }

  #markSaid(block: StreamedBlock): void {
    block.empty = false;
    this.#said = true;
    const item = this.#items.get(block.item);
    if (item) item.said = true;
  }

  #close(): void {
    const block = this.#block;
    if (!block) return;
    this.#block = undefined;
    const { type, empty, own } = block;
    if (empty && !own) return;
    // Hidden reasoning has no text, but must be sent back.
    if (empty) this.#batch.add({ type, text: "" });
    this.#batch.add(own ? { type: "part-end", provider: { [this.#provider]: own } } : { type: "part-end" });
  }

  #act(actions: readonly ProviderAction[]): void {
    if (actions.length === 0) return;
    this.#close();
    for (const { text, part } of actions)
      this.#batch.add({ type: "provider", text, provider: { [this.#provider]: { part } } });
  }

  #searchSources({ type, action }: JsonRecord): void {
    if (this.#provider === "xai" || type !== "web_search_call" || !isJsonRecord(action)) return;
    if (action.type !== "search" || !Array.isArray(action.sources)) return;
    for (const source of action.sources) {
      if (!isJsonRecord(source) || source.type !== "url") continue;
      this.#searched = true;
      this.#batch.add({ type: "source", url: textAt(source, "url") });
    }
  }

  #annotateAll(at: unknown, annotations: unknown): void {
    if (Array.isArray(annotations)) for (const one of annotations) if (isJsonRecord(one)) this.#annotate(at, one);
  }

  #annotate(at: unknown, annotation: JsonRecord): void {
    this.#items.get(at)?.annotations.push(annotation as Json);
    const url = textAt(annotation, "url");
    if (annotation.type !== "url_citation" || url === "") return;
    const title = this.#provider === "xai" && annotation.title === undefined ? url : textAt(annotation, "title");
    const source = { type: "source", url, ...(title === "" ? {} : { title }) } as const;
    if (this.#provider !== "xai") {
      this.#cited.push(source);
      return;
    }
    // xAI repeats its citations in several events.
    if (this.#sources.has(url)) return;
    this.#sources.add(url);
    this.#batch.add(source);
  }

  /** Reads the end of an answer. Without any earlier item, the end has all items. */
  #ended(type: string, response: JsonRecord): void {
    this.#model = textAt(response, "model") || this.#model;
    const output: readonly unknown[] = Array.isArray(response.output) ? response.output : [];
    if (this.#items.size === 0 && !this.#said)
      output.forEach((item, index) => {
        if (isJsonRecord(item)) this.#end(index, item);
      });
    const details = response.incomplete_details;
    const reason = isJsonRecord(details) ? textAt(details, "reason") : "";
    const said = reason || type.replace("response.", "").replace("done", "completed");
    this.#finish = finishReason("any", said, this.#endpoint.id);
    if (isJsonRecord(response.usage)) this.#usage = responsesUsage(response.usage, this.#provider);
  }

  #reason(reason: FinishReason): FinishReason {
    if (reason !== "stop") return reason;
    if (this.#calls.any) return "calls";
    return this.#refused ? "filtered" : "stop";
  }
}

function paragraphOf({ summary_index, content_index }: JsonRecord): number {
  const index = summary_index ?? content_index;
  return typeof index === "number" ? index : 0;
}

function wrongFormat({ address }: Endpoint): ModelError {
  const fact = `${address} answers in the format of chat completions, not of responses`;
  const advice = "use the provider openai-chat or openai-compatible";
  return new ModelError("invalid-request", { fact, advice });
}
