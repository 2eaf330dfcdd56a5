import type { Session } from "@banyan/core";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import { type Meter, metrics, type Tracer, trace } from "@opentelemetry/api";
import { HISTOGRAMS } from "./conventions.ts";
import type { Instruments } from "./open-span.ts";
import type { RunIds } from "./run-ids.ts";
import { SessionSpans } from "./session-spans.ts";

/**
 * The targets of {@link Telemetry} for spans and metrics, and the conversation's text in spans.
 * @example
 * const ids = new RunIds();
 * // The provider of this tracer was created with `idGenerator: ids`.
 * const tracer = trace.getTracer("garden");
 * const telemetry = new Telemetry({
 *   tracer,
 *   meter: metrics.getMeter("garden"),
 *   ids,
 *   content: true,
 *   redact: (text) => text.replace(/ghp_\w{36}/g, "[token]"),
 * });
 * telemetry.follow(session);
 */
export interface TelemetryOptions {
  /** The tracer for spans. Default: the tracer of the global provider. */
  readonly tracer?: Tracer;
  /** The meter for metrics. Default: the meter of the global provider. */
  readonly meter?: Meter;
  /** Id generator of the provider of `tracer`. It derives the ids of a turn's spans from the id of the turn's run. */
  readonly ids?: RunIds;
  /** True to send text of the conversation. Off by default: more people read a trace than a conversation. */
  readonly content?: boolean;
  /** Removes secrets from content before it is sent. */
  readonly redact?: (text: string) => string;
}

const OPTIONS: OptionNames<TelemetryOptions> = { tracer: true, meter: true, ids: true, content: true, redact: true };

/** Reports conversations to OpenTelemetry, by its conventions for generative AI (docs/telemetry.md). */
export class Telemetry {
  readonly #instruments: Instruments;
  readonly #followed = new Map<string, SessionSpans>();

  /**
   * @example
   * const telemetry = new Telemetry();
   * await using session = await Session.open(store, "garden", { create: true });
   * telemetry.follow(session);
   * await agent.send("What colour are leaves?", { session });
   */
  constructor(options: TelemetryOptions = {}) {
    refuseUnknown("telemetry", options, OPTIONS);
    const { tracer, meter, ids, content = false, redact } = options;
    const source = meter ?? metrics.getMeter(NAME);
    const histogram = ([name, options]: [string, object]) => [name, source.createHistogram(name, options)];
    this.#instruments = {
      tracer: tracer ?? trace.getTracer(NAME),
      histograms: Object.fromEntries(Object.entries(HISTOGRAMS).map(histogram)),
      ids,
      content,
      redact,
    };
  }

  /** Reports a session until the session closes or the returned function is called. Follow a session only once. */
  follow(session: Session): () => void {
    const spans = new SessionSpans(session, this.#instruments);
    this.#followed.set(session.id, spans);
    const forget = () => {
      if (this.#followed.get(session.id) === spans) this.#followed.delete(session.id);
    };
    const leave = session.listen({
      items: (items) => spans.items(items),
      ended(error) {
        forget();
        spans.ended(error);
      },
    });
    return () => {
      leave();
      forget();
      spans.ended();
    };
  }

  /**
   * Returns the span of a running call as a `traceparent` of W3C's Trace Context, so that another service can continue
   * the trace. Returns undefined without such a span.
   */
  traceparent(conversation: string, call: string): string | undefined {
    return this.#followed.get(conversation)?.traceparent(call);
  }
}

const NAME = "@banyan/telemetry";
