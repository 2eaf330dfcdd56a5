import type { LanguageModelV4FinishReason, LanguageModelV4StreamPart, LanguageModelV4Usage } from "@ai-sdk/provider";
import type { ProviderData } from "../conversation/message.ts";
import type { Usage } from "../conversation/usage.ts";
import { CallArguments } from "../model/call-arguments.ts";
import { type FinishReason, finishReason, meaningOf } from "../model/finish-reasons.ts";
import { ThinkTags } from "../model/think-tags.ts";
import { ModelError, type ModelPart } from "../ports/model.ts";
import { isEmptyChunk, ProviderReport } from "./error.ts";
import { type Provided, providedCall, providedContent, providedResult } from "./provided.ts";

/** The text or reasoning that streams now. */
interface Block {
  readonly type: "text" | "reasoning";
  readonly id: string;
  provider: ProviderData | undefined;
  empty: boolean;
}

interface StreamedCall {
  readonly index: number;
  readonly input: CallArguments;
}

/** Formats in which reasoning is never content. */
const HAS_REASONING = /responses|google|vertex|anthropic/;

/** One response of a language model, translated part by part. */
export class ResponseParts {
  /** Whether the last part has come. */
  finished = false;
  readonly #asked: string;
  readonly #provider: string;
  readonly #id: string;
  readonly #tags: ThinkTags;
  /** The block whose beginning may be reasoning. */
  #tagged = "";
  #responding: string | undefined;
  #block: Block | undefined;
  /** Calls whose arguments stream, by the provider's id. */
  readonly #calls = new Map<string, StreamedCall>();
  #count = 0;

  /**
   * @param asked The model's name in the request.
   * @param provider Under whose name what it did on its side is kept.
   * @param id `provider/model`, for errors.
   * @param format What the package calls its provider and format, as in `openai.responses`.
   */
  constructor(asked: string, provider: string, id = `${provider}/${asked}`, format = provider) {
    this.#asked = asked;
    this.#provider = provider;
    this.#id = id;
    this.#tags = new ThinkTags(asked);
    if (HAS_REASONING.test(format)) this.#tags.end();
  }

  /**
   * Adds to `out` what a part of the stream says.
   *
   * @throws what the provider reports as an error, and `ModelError` for a response that ended without being complete.
   */
  read(part: LanguageModelV4StreamPart, out: ModelPart[]): void {
    switch (part.type) {
      case "text-delta":
        return this.#content(part, out);
      case "reasoning-delta":
        return this.#say("reasoning", part, part.delta, out);
      case "text-start":
        return this.#say("text", part, "", out);
      case "reasoning-start":
        return this.#say("reasoning", part, "", out);
      case "text-end":
      case "reasoning-end":
        if (part.type === "text-end" && part.id === this.#tagged) this.#endContent(out);
        if (this.#block?.id !== part.id) return;
        this.#block.provider = joined(this.#block.provider, part.providerMetadata);
        return this.#close(out);
      case "tool-input-start":
        // What the provider runs is no call of ours; arguments that are not JSON come as JSON with the call itself.
        if (part.providerExecuted || part.inputEncoding === "text") return;
        this.#calls.set(part.id, { index: this.#call(part.id, part.toolName, out), input: new CallArguments() });
        return;
      case "tool-input-delta": {
        const call = this.#calls.get(part.id);
        if (!call || !part.delta) return;
        const text = call.input.take(part.delta);
        if (text !== "") out.push({ type: "call-input", index: call.index, text });
        return;
      }
      case "tool-call": {
        if (part.providerExecuted) return this.#provide(providedCall(part), out);
        const streamed = this.#calls.get(part.toolCallId);
        const index = streamed?.index ?? this.#call(part.toolCallId, part.toolName, out);
        // Arguments that streamed were shown as they came: they stand, however the provider sums them up.
        const rest = streamed && !streamed.input.isEmpty ? streamed.input.rest() : part.input;
        if (rest) out.push({ type: "call-input", index, text: rest });
        const provider = joined(undefined, part.providerMetadata);
        out.push(provider ? { type: "call-end", index, provider } : { type: "call-end", index });
        this.#calls.delete(part.toolCallId);
        return;
      }
      case "tool-result":
        // A preview is replaced by the result.
        return part.preliminary ? undefined : this.#provide(providedResult(part), out);
      case "custom":
        // Anthropic's package tells the beginning of its message like this, which nobody wants to see again.
        if (part.kind !== "anthropic.message_start") this.#provide(providedContent(part), out);
        return;
      case "source":
        if (part.sourceType !== "url") return;
        out.push({ type: "source", url: part.url, ...(part.title && { title: part.title }) });
        return;
      case "response-metadata":
        this.#responding = part.modelId ?? this.#responding;
        return;
      case "finish": {
        this.#endContent(out);
        this.#close(out);
        const reason = this.#reason(part.finishReason);
        const model = this.#responding;
        out.push({
          type: "finish",
          reason,
          usage: usageOf(part.usage),
          ...(model && model !== this.#asked && { model }),
          ...(reason === "filtered" && explanationIn(part.providerMetadata)),
        });
        this.finished = true;
        return;
      }
      case "error":
        // Packages do not know a chunk without choices; the answer goes on behind it (F67).
        if (isEmptyChunk(part.error)) return;
        throw new ProviderReport(part.error);
      default:
        // Notices, and what has no place in a message: generated files.
        return;
    }
  }

  /** Reasoning that a server sends as content is told from the answer. */
  #content(part: Extract<LanguageModelV4StreamPart, { type: "text-delta" }>, out: ModelPart[]): void {
    if (this.#tags.isOver) return this.#say("text", part, part.delta, out);
    this.#tagged = part.id;
    for (const { type, text } of this.#tags.take(part.delta)) this.#say(type, part, text, out);
  }

  #endContent(out: ModelPart[]): void {
    if (this.#tags.isOver) return;
    for (const { type, text } of this.#tags.end()) this.#say(type, { id: this.#tagged }, text, out);
  }

  #say(type: "text" | "reasoning", part: Marked, text: string, out: ModelPart[]): void {
    if (this.#block?.id !== part.id || this.#block.type !== type) {
      this.#close(out);
      this.#block = { type, id: part.id, provider: undefined, empty: true };
    }
    if (part.providerMetadata) this.#block.provider = joined(this.#block.provider, part.providerMetadata);
    if (!text) return;
    this.#block.empty = false;
    out.push({ type, text });
  }

  #close(out: ModelPart[]): void {
    const block = this.#block;
    if (!block) return;
    this.#block = undefined;
    if (block.empty) {
      if (!block.provider) return;
      // Reasoning that the provider keeps to itself has no text, and must be given back all the same.
      out.push({ type: block.type, text: "" });
    }
    out.push(block.provider ? { type: "part-end", provider: block.provider } : { type: "part-end" });
  }

  #provide({ text, part }: Provided, out: ModelPart[]): void {
    this.#close(out);
    out.push({ type: "provider", text, provider: { [this.#provider]: { part } } });
  }

  #call(id: string, tool: string, out: ModelPart[]): number {
    this.#close(out);
    const index = this.#count++;
    out.push({ type: "call", index, id, tool });
    return index;
  }

  #reason({ unified, raw }: LanguageModelV4FinishReason): FinishReason {
    const reason = this.#meaning(unified, raw);
    // Not all providers tell the two apart; whether there are calls to run does.
    if (this.#count > 0 && (reason === "stop" || reason === "paused")) return "calls";
    return reason === "calls" && this.#count === 0 ? "stop" : reason;
  }

  /** The words of the provider count where its package does not know them (F52). */
  #meaning(unified: LanguageModelV4FinishReason["unified"], raw: string | undefined): FinishReason {
    switch (unified) {
      case "length":
        return "length";
      case "content-filter":
        return "filtered";
      case "error":
        return finishReason("any", "error", this.#id, raw);
      case "other":
        if (raw !== undefined) return finishReason("any", raw, this.#id);
        break;
      case "stop":
      case "tool-calls": {
        const known = raw === undefined ? undefined : meaningOf("any", raw);
        return known === "paused" ? "paused" : "stop";
      }
    }
    throw new ModelError("broken-stream", { fact: "The answer broke off before its end", advice: "try again" });
  }
}

interface Marked {
  readonly id: string;
  readonly providerMetadata?: Readonly<Record<string, object>>;
}

/** What the provider wants to see again, of all that it said about one part. */
function joined(before: ProviderData | undefined, more: Marked["providerMetadata"]): ProviderData | undefined {
  if (!more) return before;
  const provider: Record<string, ProviderData[string]> = { ...before };
  for (const [name, data] of Object.entries(more)) provider[name] = { ...provider[name], ...data };
  return provider;
}

/** What a provider says about a refusal: Anthropic tells it beside the reason to finish. */
function explanationIn(metadata: Readonly<Record<string, object>> | undefined): { explanation?: string } {
  for (const told of Object.values(metadata ?? {})) {
    const details = "stopDetails" in told ? told.stopDetails : undefined;
    if (typeof details !== "object" || details === null) continue;
    if ("explanation" in details && typeof details.explanation === "string")
      return { explanation: details.explanation };
  }
  return {};
}

function usageOf({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage {
  const cached = inputTokens.cacheRead ?? 0;
  const cacheWrite = inputTokens.cacheWrite ?? 0;
  const reasoning = outputTokens.reasoning ?? 0;
  return {
    input: inputTokens.total ?? (inputTokens.noCache ?? 0) + cached + cacheWrite,
    cached,
    cacheWrite,
    output: outputTokens.total ?? (outputTokens.text ?? 0) + reasoning,
    reasoning,
  };
}
