import type { Cost, Event, EventType, Usage } from "@banyan/core/conversation";
import {
  type Attributes,
  type Context,
  type Histogram,
  type Span,
  SpanStatusCode,
  type Tracer,
} from "@opentelemetry/api";
import { BANYAN, GENAI, type HISTOGRAMS } from "./conventions.ts";
import type { RunIds } from "./run-ids.ts";

/** Tracer, histograms and content options that all sessions share. */
export interface Instruments {
  readonly tracer: Tracer;
  readonly histograms: Readonly<Record<keyof typeof HISTOGRAMS, Histogram>>;
  readonly content: boolean;
  readonly ids?: RunIds;
  readonly redact?: (text: string) => string;
}

/** An event of one type. */
export type EventOf<Type extends EventType> = Extract<Event, { type: Type }>;

/** A span that has not ended. */
export interface OpenSpan {
  readonly span: Span;
  /** Start of the span, in milliseconds since 1970. */
  readonly at: number;
  /** Attributes of its metrics. */
  readonly said: Attributes;
}

/** The run of an agent: a turn, or the work of a sub-agent. */
export interface OpenTurn extends OpenSpan {
  readonly started: EventOf<"run.started">;
  /** Context of the spans of its steps. */
  readonly within: Context;
  /** Start of the current compaction for this turn, in milliseconds since 1970. */
  shortening: number | undefined;
  usage: Usage;
  /** US dollars; undefined as soon as the cost of one response is unknown. */
  cost: Cost;
  /** Milliseconds that the turn waited for a user. */
  waited: number;
}

/** Attributes of token usage and cost. An unknown cost is left out, because unknown is not zero. */
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

/** Starts a span with ids derived from `name`, if the tracer's provider uses `RunIds`. */
export function startNamed({ ids }: Pick<Instruments, "ids">, name: string, start: () => Span): Span {
  return ids ? ids.of(name, start) : start();
}

/** Ends a span and records its duration. `message` describes a failure; it counts as content, as it may quote the conversation. */
export function endSpan(
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

/** Sets an attribute to redacted content, if the program asked for content. */
export function setContent(to: Instruments, span: Span, name: string, text: string): void {
  if (to.content) span.setAttribute(name, to.redact?.(text) ?? text);
}
