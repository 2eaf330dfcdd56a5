import type {
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4Warning,
} from "@ai-sdk/provider";
import type { ProviderData } from "../conversation/part.ts";
import type { Usage } from "../conversation/usage.ts";
import { CallArguments } from "../model/call-arguments.ts";
import { type FinishReason, finishMeaning, finishReason } from "../model/finish-reasons.ts";
import { ThinkTags } from "../model/think-tags.ts";
import { ModelError, type ModelPart } from "../ports/model.ts";
import { isEmptyChunk, ProviderReport } from "./error.ts";
import { type ProviderAction, providedCall, providedContent, providedResult } from "./provider-action.ts";

/** A setting that changes the meaning of a response, and its name in the AI SDK. */
export interface DemandedSetting {
  readonly setting: string;
  readonly feature: string;
}

/** Refuses a setting that the package leaves out with only a warning: the response would ignore the program's setting. */
function refuseUnsupported(warnings: readonly SharedV4Warning[], setting: string, feature: string, id: string): void {
  for (const warning of warnings) {
    if (warning.type !== "unsupported" || !warning.feature.startsWith(feature)) continue;
    const fact = `${id} does not support ${setting}`;
    const advice = "leave it out, or use another model";
    throw new ModelError("invalid-request", { fact, advice, words: warning.details });
  }
}

interface StreamedPart {
  readonly type: "text" | "reasoning";
  readonly id: string;
  provider: ProviderData | undefined;
  empty: boolean;
}

interface StreamedCall {
  readonly index: number;
  readonly input: CallArguments;
}

/** Formats that never send reasoning as content. */
const HAS_REASONING = /responses|google|vertex|anthropic/;

export class ResponseParts {
  finished = false;
  readonly #asked: string;
  readonly #provider: string;
  readonly #id: string;
  readonly #demanded: readonly DemandedSetting[];
  readonly #tags: ThinkTags;
  /** Id of the block that may begin with reasoning. */
  #tagged = "";
  #responding: string | undefined;
  #block: StreamedPart | undefined;
  readonly #calls = new Map<string, StreamedCall>();
  #count = 0;

  /**
   * @param asked The model's name in the request.
   * @param provider Name under which the provider's own actions are kept.
   * @param id `provider/model`, for errors.
   * @param format Provider and format in the package's terms, such as `openai.responses`.
   * @param demanded Settings of the request that the model must support.
   */
  constructor(
    asked: string,
    provider: string,
    id = `${provider}/${asked}`,
    format = provider,
    demanded: readonly DemandedSetting[] = [],
  ) {
    this.#demanded = demanded;
    this.#asked = asked;
    this.#provider = provider;
    this.#id = id;
    this.#tags = new ThinkTags(asked);
    if (HAS_REASONING.test(format)) this.#tags.end();
  }

  /**
   * @throws the error that the provider reports, and `ModelError` for a response that ended incomplete, or without a
   * demanded setting.
   */
  read(part: LanguageModelV4StreamPart, out: ModelPart[]): void {
    switch (part.type) {
      case "stream-start":
        for (const { setting, feature } of this.#demanded) refuseUnsupported(part.warnings, setting, feature, this.#id);
        return;
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
        this.#block.provider = mergeProviderData(this.#block.provider, part.providerMetadata);
        return this.#close(out);
      case "tool-input-start":
        // Arguments that are not JSON arrive as JSON with the complete call.
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
        // Streamed arguments were published already, so they stay valid whatever the final call contains.
        const rest = streamed && !streamed.input.isEmpty ? streamed.input.rest() : part.input;
        if (rest) out.push({ type: "call-input", index, text: rest });
        const provider = mergeProviderData(undefined, part.providerMetadata);
        out.push(provider ? { type: "call-end", index, provider } : { type: "call-end", index });
        this.#calls.delete(part.toolCallId);
        return;
      }
      case "tool-result":
        return part.preliminary ? undefined : this.#provide(providedResult(part), out);
      case "custom":
        // Anthropic's package marks the beginning of a message with such a part; it need not be sent back.
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
          usage: languageModelUsage(part.usage),
          ...(model && model !== this.#asked && { model }),
          ...(reason === "filtered" && explanationIn(part.providerMetadata)),
        });
        this.finished = true;
        return;
      }
      case "error":
        // Packages reject a chunk without choices, but the answer continues after it (F67).
        if (isEmptyChunk(part.error)) return;
        throw new ProviderReport(part.error);
      default:
        // Notices, and generated files, which messages cannot contain.
        return;
    }
  }

  /** Separates the answer from reasoning that a server sends as content. */
  #content(part: Extract<LanguageModelV4StreamPart, { type: "text-delta" }>, out: ModelPart[]): void {
    if (this.#tags.isOver) return this.#say("text", part, part.delta, out);
    this.#tagged = part.id;
    for (const { type, text } of this.#tags.take(part.delta)) this.#say(type, part, text, out);
  }

  #endContent(out: ModelPart[]): void {
    if (this.#tags.isOver) return;
    for (const { type, text } of this.#tags.end()) this.#say(type, { id: this.#tagged }, text, out);
  }

  #say(type: "text" | "reasoning", part: StreamPartIdentity, text: string, out: ModelPart[]): void {
    if (this.#block?.id !== part.id || this.#block.type !== type) {
      this.#close(out);
      this.#block = { type, id: part.id, provider: undefined, empty: true };
    }
    if (part.providerMetadata) this.#block.provider = mergeProviderData(this.#block.provider, part.providerMetadata);
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
      // Hidden reasoning has no text, but must be sent back.
      out.push({ type: block.type, text: "" });
    }
    out.push(block.provider ? { type: "part-end", provider: block.provider } : { type: "part-end" });
  }

  #provide({ text, part }: ProviderAction, out: ModelPart[]): void {
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
    // Not all providers distinguish the two reasons; the presence of calls does.
    if (this.#count > 0 && (reason === "stop" || reason === "paused")) return "calls";
    return reason === "calls" && this.#count === 0 ? "stop" : reason;
  }

  /** Uses the provider's own reason if its package does not know the reason (F52). */
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
        const known = raw === undefined ? undefined : finishMeaning("any", raw);
        return known === "paused" ? "paused" : "stop";
      }
    }
    throw new ModelError("broken-stream", { fact: "The answer broke off before its end", advice: "try again" });
  }
}

interface StreamPartIdentity {
  readonly id: string;
  readonly providerMetadata?: Readonly<Record<string, object>>;
}

function mergeProviderData(
  before: ProviderData | undefined,
  more: StreamPartIdentity["providerMetadata"],
): ProviderData | undefined {
  if (!more) return before;
  const provider: Record<string, ProviderData[string]> = { ...before };
  for (const [name, data] of Object.entries(more)) provider[name] = { ...provider[name], ...data };
  return provider;
}

/** Returns a provider's explanation of a refusal. Anthropic sends it with the finish reason. */
function explanationIn(metadata: Readonly<Record<string, object>> | undefined): { explanation?: string } {
  for (const told of Object.values(metadata ?? {})) {
    const details = "stopDetails" in told ? told.stopDetails : undefined;
    if (typeof details !== "object" || details === null) continue;
    if ("explanation" in details && typeof details.explanation === "string")
      return { explanation: details.explanation };
  }
  return {};
}

function languageModelUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage {
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
