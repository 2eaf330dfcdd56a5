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
import { DELTAS, ENDS, MEANINGFUL, paragraphOf, WHOLES } from "./event-kinds.ts";
import { HostedActions } from "./hosted-actions.ts";
import type { ItemData } from "./item.ts";
import type { ResponsesProvider } from "./provider.ts";
import type { HostedTools } from "./server-tools.ts";
import { type StreamedItem, StreamedItems } from "./streamed-items.ts";
import { responsesUsage } from "./usage.ts";

/** The request that an answer belongs to. */
export interface AnsweredRequest {
  readonly provider: ResponsesProvider;
  /** Names of the tools in the request. */
  readonly offered: ReadonlySet<string>;
  readonly hosted: HostedTools;
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

/**
 * Decodes one answer of the Responses API (https://platform.openai.com/docs/api-reference/responses-streaming),
 * streamed or whole. `take` returns the parts that have arrived, and after `end` also `finish`. Ignores unknown events
 * and items, as the format requires. Throws `ModelError` for an error of the server and for an invalid answer.
 */
export class ResponsesAnswer implements AnswerDecoder {
  readonly #endpoint: Endpoint;
  readonly #provider: ResponsesProvider;
  readonly #batch = new Batch();
  readonly #calls: StreamedCalls;
  readonly #hosted: HostedActions;
  readonly #names: ReadonlyMap<string, string>;
  /** Reads events that contain only the next fragment of the same item. */
  readonly #repeated = new RepeatedDocuments(MEANINGFUL);
  readonly #items = new StreamedItems();
  #block: StreamedBlock | undefined;
  /** Citations. They are used only if no search lists its sources. */
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
    const at = this.#items.placeOf(event);
    const type = textAt(event, "type");
    if (DELTAS.has(type)) return this.#delta(type, at, paragraphOf(event), textAt(event, "delta"));
    if (Object.hasOwn(WHOLES, type)) return this.#whole(type, at, event);
    switch (type) {
      case "response.output_item.added":
        if (isJsonRecord(event.item)) this.#begin(at, event.item);
        return;
      case "response.output_item.done":
        if (isJsonRecord(event.item)) this.#end(at, event.item);
        return;
      case "response.reasoning_summary_part.added":
        if (this.#items.at(at)) this.#openReasoning(at, paragraphOf(event));
        return;
      case "response.output_text.annotation.added":
        if (isJsonRecord(event.annotation)) this.#annotate(at, event.annotation);
        return;
      case "response.code_interpreter_call_code.done":
        return this.#act(this.#hosted.call({ ...this.#items.at(at)?.first, code: event.code }));
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

  #whole(type: string, at: unknown, event: JsonRecord): void {
    const text = textAt(event, WHOLES[type] as string);
    if (type === "response.function_call_arguments.done") return this.#calls.fill(at, text);
    if (type === "response.refusal.done") this.#refused = true;
    const isReasoning = type.includes("reasoning");
    const paragraph = isReasoning ? paragraphOf(event) : 0;
    if (this.#items.at(at)?.said.has(paragraph) === false)
      this.#say(isReasoning ? "reasoning" : "text", at, paragraph, text);
    if (this.#provider === "xai") this.#annotateAll(at, event.annotations);
  }

  /** Learns the form of an event with the next fragment of an item. */
  #learn(document: string, event: JsonRecord): void {
    const type = textAt(event, "type");
    if (!DELTAS.has(type)) return;
    const paragraph = paragraphOf(event);
    // An event without a place means the newest item, which changes.
    const say = (text: string) => this.#delta(type, this.#items.placeOf(event), paragraph, text);
    this.#repeated.learn(document, textAt(event, "delta"), say, event);
  }

  #begin(at: unknown, item: JsonRecord): StreamedItem {
    const known = this.#items.at(at);
    if (known && !known.whole) return known;
    const begun = this.#items.begin(at, item);
    if (item.type === "message") this.#open("text", at, 0, this.#textOwn(begun, item));
    else if (item.type === "reasoning") this.#openReasoning(at, 0);
    else if (item.type === "function_call") {
      this.#close();
      this.#calls.begin(at, item);
    } else if (this.#hosted.isHosted(item)) this.#act(this.#hosted.begin(item));
    return begun;
  }

  #end(at: unknown, item: JsonRecord): void {
    if (this.#items.isRepeated(at, item)) return;
    const begun = this.#begin(at, item);
    begun.whole = item;
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
    const wasSaid = begun.said.size > 0;
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
    const own = this.#reasoningOwn(item);
    if (begun.said.size === 0)
      for (const [paragraph, text] of texts.entries()) this.#say("reasoning", at, paragraph, text);
    // Another item began before the end: the encrypted content follows in a part without text.
    if (this.#block?.item !== at && own.reasoningEncryptedContent) this.#open("reasoning", at, 0, own);
    this.#closeWith(at, own);
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
    const first = this.#items.at(at)?.first ?? {};
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
    this.#items.at(block.item)?.said.add(block.paragraph);
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
    this.#items.at(at)?.annotations.push(annotation as Json);
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

  /** Reads the end of an answer. Without any earlier item, the end has all items, or else ends those without an end. */
  #ended(type: string, response: JsonRecord): void {
    this.#model = textAt(response, "model") || this.#model;
    const details = response.incomplete_details;
    const reason = isJsonRecord(details) ? textAt(details, "reason") : "";
    const said = reason || type.replace("response.", "").replace("done", "completed");
    const isFirst = this.#items.isEmpty && !this.#said;
    const output: readonly unknown[] = Array.isArray(response.output) ? response.output : [];
    output.filter(isJsonRecord).forEach((item, index) => {
      const at = isFirst ? index : said === "completed" ? this.#items.unendedPlace(item) : undefined;
      if (at !== undefined) this.#end(at, item);
    });
    this.#finish = finishReason("any", said, this.#endpoint.id);
    if (isJsonRecord(response.usage)) this.#usage = responsesUsage(response.usage, this.#provider);
  }

  #reason(reason: FinishReason): FinishReason {
    if (reason !== "stop") return reason;
    if (this.#calls.any) return "calls";
    return this.#refused ? "filtered" : "stop";
  }
}

function wrongFormat({ address }: Endpoint): ModelError {
  const fact = `${address} answers in the format of chat completions, not of responses`;
  const advice = "use the provider openai-chat or openai-compatible";
  return new ModelError("invalid-request", { fact, advice });
}
