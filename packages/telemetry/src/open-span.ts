import type { Cost, Event, EventType, Usage } from "@banyan/core/conversation";
import { type Attributes, type Context, type Span, SpanStatusCode } from "@opentelemetry/api";
import { BANYAN, GENAI, type HISTOGRAMS } from "./conventions.ts";
import type { Instruments } from "./telemetry.ts";

/** An event of one type. */
export type Of<Type extends EventType> = Extract<Event, { type: Type }>;

/** A span that has not ended. */
export interface OpenSpan {
  readonly span: Span;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** What its metrics say of it. */
  readonly said: Attributes;
}

/** The run of an agent: a turn, or the work of a sub-agent. */
export interface OpenTurn extends OpenSpan {
  readonly started: Of<"run.started">;
  /** Where the spans of its steps belong. */
  readonly within: Context;
  /** Since when a summary is being written for it. */
  shortening: number | undefined;
  usage: Usage;
  /** Unknown as soon as that of one response is. */
  cost: Cost;
  /** Milliseconds for a person. */
  waited: number;
}

/** The attributes of what models took. An unknown cost is left out: it is not zero. */
export function usageAttributes({ input, output, cached, cacheWrite, reasoning }: Usage, cost: Cost): Attributes {
  return {
    [GENAI.inputTokens]: input,
    [GENAI.outputTokens]: output,
    [GENAI.cacheRead]: cached,
    [GENAI.cacheWrite]: cacheWrite,
    [GENAI.reasoning]: reasoning,
    ...(cost === undefined ? {} : { [BANYAN.cost]: cost }),
  };
}

/** Starts a span whose ids follow from `name`, where the provider of the tracer allows that. */
export function startNamed({ ids }: Pick<Instruments, "ids">, name: string, start: () => Span): Span {
  return ids ? ids.of(name, start) : start();
}

/** Ends a span, and tells how long it took. `message` says more of a failure, and may quote what was said. */
export function end(
  to: Instruments,
  { span, at, said }: OpenSpan,
  ended: number,
  measure: keyof typeof HISTOGRAMS,
  failure?: { readonly type: string; readonly message?: string | undefined },
): void {
  if (failure) {
    span.setAttribute(GENAI.error, failure.type);
    const message = to.content ? failure.message : undefined;
    span.setStatus({ code: SpanStatusCode.ERROR, ...(message && { message: to.redact?.(message) ?? message }) });
  }
  span.end(new Date(ended));
  to.histograms[measure].record((ended - at) / 1_000, failure ? { ...said, [GENAI.error]: failure.type } : said);
}

/** Puts something that was said on a span, where somebody asked for that. */
export function setContent(to: Instruments, span: Span, name: string, text: string): void {
  if (to.content) span.setAttribute(name, to.redact?.(text) ?? text);
}
