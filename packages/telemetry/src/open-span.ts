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

export type EventOf<Type extends EventType> = Extract<Event, { type: Type }>;

/** A span that has not ended. */
export interface OpenSpan {
  readonly span: Span;
  readonly at: number;
  readonly said: Attributes;
}

/** The open span of a turn, or of a sub-agent's run. */
export interface OpenTurn extends OpenSpan {
  readonly started: EventOf<"run.started">;
  readonly within: Context;
  /** Start of the current compaction for this turn, in milliseconds since 1970. */
  shortening: number | undefined;
  usage: Usage;
  /** US dollars; undefined as soon as the cost of one response is unknown. */
  cost: Cost;
  waited: number;
}

/** Returns the span attributes for token usage and cost. Leaves out an unknown cost. */
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

/** Starts a span. Derives its ids from `name` if the tracer's provider uses `RunIds`. */
export function startNamed({ ids }: Pick<Instruments, "ids">, name: string, start: () => Span): Span {
  return ids ? ids.of(name, start) : start();
}

/** Ends a span and records its duration. `message` may quote the conversation, so it is sent only as content. */
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

/** Sets an attribute to redacted text, if the options allow content. */
export function setContent(to: Instruments, span: Span, name: string, text: string): void {
  if (to.content) span.setAttribute(name, to.redact?.(text) ?? text);
}
