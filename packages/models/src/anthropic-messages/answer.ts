import { type Json, ModelError } from "@banyan/core";
import { cleanUsage, type ProviderData } from "@banyan/core/conversation";
import { CallArguments, type FinishReason, finishReason, type ModelPart } from "@banyan/core/drivers";
import { isJsonRecord, type JsonRecord } from "@banyan/core/shown";
import { Batch } from "../wire/batch.ts";
import { type Endpoint, errorIn, errorInAnswer, errorOfEnd, parseEvent } from "../wire/errors.ts";
import { textAt } from "../wire/json.ts";
import { RepeatedDocuments } from "../wire/repeated-documents.ts";
import type { AnswerDecoder } from "../wire/response.ts";
import { PROVIDER } from "./messages.ts";
import { UsageCount } from "./usage.ts";

interface StreamedBlock {
  readonly index: unknown;
  readonly type: "text" | "reasoning";
  /** Provider data of the block that must be sent back to Anthropic. */
  own: Readonly<Record<string, Json>> | undefined;
  empty: boolean;
}

/** The key of a block's next fragment, by type of event. */
const FIELDS = new Map<unknown, string>([
  ["text_delta", "text"],
  ["thinking_delta", "thinking"],
  ["input_json_delta", "partial_json"],
]);

/** The keys that this decoder reads in a fragment's event. */
const MEANINGFUL: ReadonlySet<string> = new Set([
  ...["error", "object", "type", "response", "message", "detail", "index", "delta", "usage"],
  ...["text", "thinking", "partial_json", "signature", "content_block"],
]);

interface StreamedToolUse {
  readonly index: number;
  /** The arguments of the call. They are used if no pieces follow. */
  readonly input: string;
  readonly pieces: CallArguments;
  readonly provider: ProviderData | undefined;
}

/**
 * Decodes one answer of Anthropic's Messages API (https://docs.claude.com/en/docs/build-with-claude/streaming). `take`
 * returns the parts that have arrived, and after `end` also `finish`. Ignores unknown events and blocks, as the format
 * requires. Throws `ModelError` for an error of the server and for an invalid answer.
 */
export class MessagesAnswer implements AnswerDecoder {
  readonly #endpoint: Endpoint;
  readonly #batch = new Batch();
  #block: StreamedBlock | undefined;
  /** Reads events that contain only the next fragment of the same block. */
  readonly #repeated = new RepeatedDocuments(MEANINGFUL);
  /** Calls by the index of their block. */
  readonly #calls = new Map<unknown, StreamedToolUse>();
  #count = 0;
  #model = "";
  readonly #usage = new UsageCount();
  #stop: JsonRecord = {};
  #finish: FinishReason | undefined;
  #done = false;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
  }

  get done(): boolean {
    return this.#done;
  }

  /** True if the stop reason has arrived. The answer is then whole, even without its end mark (F53). */
  get answered(): boolean {
    return this.#done || this.#finish !== undefined;
  }

  data(text: string): void {
    if (this.#done || text === "") return;
    if (this.#repeated.read(text)) return;
    const event = this.#parsed(text);
    switch (event?.type) {
      case "content_block_delta":
        if (!isJsonRecord(event.delta)) return;
        this.#delta(event.index, event.delta);
        if (this.#repeated.learns) this.#learn(text, event, event.delta);
        return;
      case "content_block_start":
        if (isJsonRecord(event.content_block)) this.#begin(event.index, event.content_block);
        return;
      case "content_block_stop":
        return this.#end(event.index);
      case "message_start":
        if (!isJsonRecord(event.message)) return;
        this.#model = textAt(event.message, "model");
        if (isJsonRecord(event.message.usage)) this.#usage.add(event.message.usage);
        return;
      case "message_delta":
        if (isJsonRecord(event.usage)) this.#usage.add(event.usage);
        if (isJsonRecord(event.delta)) this.#ended(event.delta);
        return;
      case "message_stop":
        this.#done = true;
    }
  }

  #ended(delta: JsonRecord): void {
    this.#stop = delta;
    const reason = textAt(delta, "stop_reason");
    if (reason !== "") this.#finish = finishReason("messages", reason, this.#endpoint.id);
  }

  #parsed(text: string): JsonRecord | undefined {
    const isWhole = this.#finish !== undefined;
    try {
      const event = parseEvent(this.#endpoint, text);
      const error = errorIn(event, typeof event.type === "string");
      if (error === undefined) return event;
      throw errorInAnswer(this.#endpoint, error);
    } catch (error) {
      if (isWhole && error instanceof ModelError) return undefined;
      throw error;
    }
  }

  end(): void {
    this.#close();
    if (!this.answered) throw errorOfEnd(this.#endpoint);
    // A gateway may leave out the ends of blocks.
    for (const index of [...this.#calls.keys()]) this.#end(index);
    const reason = this.#reason();
    const details = this.#stop.stop_details;
    const explanation = reason === "filtered" && isJsonRecord(details) ? textAt(details, "explanation") : "";
    this.#batch.add({
      type: "finish",
      reason,
      usage: cleanUsage(this.#usage.sum),
      ...(this.#model !== "" && this.#model !== this.#endpoint.model ? { model: this.#model } : {}),
      ...(explanation === "" ? {} : { explanation }),
    });
  }

  take(): readonly ModelPart[] {
    return this.#batch.take();
  }

  #reason(): FinishReason {
    const reason = this.#finish ?? "stop";
    // Gateways report different reasons for an answer with calls.
    if (this.#count > 0 && (reason === "stop" || reason === "paused")) return "calls";
    return reason === "calls" && this.#count === 0 ? "stop" : reason;
  }

  #delta(index: unknown, delta: JsonRecord): void {
    switch (delta.type) {
      case "text_delta":
        return this.#say("text", index, textAt(delta, "text"));
      case "thinking_delta":
        return this.#say("reasoning", index, textAt(delta, "thinking"));
      case "signature_delta":
        if (this.#block?.type === "reasoning") this.#block.own = { signature: textAt(delta, "signature") };
        return;
      case "input_json_delta": {
        const call = this.#calls.get(index);
        const text = call?.pieces.take(textAt(delta, "partial_json"));
        if (call && text) this.#batch.callInput(call.index, text);
      }
    }
  }

  /** Learns the form of an event with the next fragment of a block. */
  #learn(document: string, event: JsonRecord, delta: JsonRecord): void {
    const field = FIELDS.get(delta.type);
    if (field === undefined) return;
    const { index } = event;
    const say = (text: string) => this.#delta(index, { type: delta.type, [field]: text });
    this.#repeated.learn(document, textAt(delta, field), say, event, delta);
  }

  #begin(index: unknown, block: JsonRecord): void {
    switch (block.type) {
      // Some servers put the first fragment or the whole text into the start of a block (F54).
      case "text":
        return this.#extend(this.#open("text", index), textAt(block, "text"));
      case "thinking": {
        const signature = textAt(block, "signature");
        const open = this.#open("reasoning", index, signature === "" ? undefined : { signature });
        return this.#extend(open, textAt(block, "thinking"));
      }
      case "redacted_thinking":
        this.#open("reasoning", index, { redactedData: textAt(block, "data") });
        return;
      case "tool_use":
        this.#call(index, block);
    }
  }

  #open(type: StreamedBlock["type"], index: unknown, own?: StreamedBlock["own"]): StreamedBlock {
    this.#close();
    this.#block = { index, type, own, empty: true };
    return this.#block;
  }

  #say(type: StreamedBlock["type"], index: unknown, text: string): void {
    const open = this.#block;
    const block = open !== undefined && open.index === index && open.type === type ? open : this.#open(type, index);
    this.#extend(block, text);
  }

  #extend(block: StreamedBlock, text: string): void {
    if (text === "") return;
    block.empty = false;
    this.#batch.text(block.type, text);
  }

  #call(index: unknown, block: JsonRecord): void {
    this.#close();
    const call: StreamedToolUse = {
      index: this.#count++,
      input: isJsonRecord(block.input) ? JSON.stringify(block.input) : "{}",
      provider: isJsonRecord(block.caller) ? { [PROVIDER]: { caller: toolCaller(block.caller) } } : undefined,
      pieces: new CallArguments(),
    };
    this.#calls.set(index, call);
    this.#batch.add({ type: "call", index: call.index, id: textAt(block, "id"), tool: textAt(block, "name") });
  }

  #end(index: unknown): void {
    if (this.#block?.index === index) return this.#close();
    const call = this.#calls.get(index);
    if (!call) return;
    this.#calls.delete(index);
    const rest = call.pieces.isEmpty ? call.input : call.pieces.rest();
    if (rest !== "") this.#batch.callInput(call.index, rest);
    const end = { type: "call-end", index: call.index } as const;
    this.#batch.add(call.provider ? { ...end, provider: call.provider } : end);
  }

  #close(): void {
    const block = this.#block;
    if (!block) return;
    this.#block = undefined;
    if (block.empty && !block.own) return;
    // Reasoning that Anthropic redacts has no text, but must be sent back.
    if (block.empty) this.#batch.add({ type: block.type, text: "" });
    this.#batch.add(block.own ? { type: "part-end", provider: { [PROVIDER]: block.own } } : { type: "part-end" });
  }
}

function toolCaller(caller: JsonRecord): Readonly<Record<string, Json>> {
  const toolId = textAt(caller, "tool_id");
  return { type: textAt(caller, "type"), ...(toolId === "" ? {} : { toolId }) };
}
