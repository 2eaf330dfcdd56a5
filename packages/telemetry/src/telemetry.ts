import type { Session } from "@banyan/core";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import { type Histogram, type Meter, metrics, type Tracer, trace } from "@opentelemetry/api";
import { HISTOGRAMS } from "./conventions.ts";
import type { RunIds } from "./run-ids.ts";
import { SessionSpans } from "./session-spans.ts";

/**
 * Where spans and metrics go, and what they say.
 * @example
 * const ids = new RunIds();
 * // Of a tracer provider that was made with `idGenerator: ids`.
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
  /** The one of the global provider when absent. */
  readonly tracer?: Tracer;
  /** The one of the global provider when absent. */
  readonly meter?: Meter;
  /** The generator of the provider of `tracer`: then the ids of a turn follow from the id of its run. */
  readonly ids?: RunIds;
  /**
   * Whether spans also say what was said: instructions, messages, arguments and results. Off by default: a trace is read by
   * more people than a conversation.
   */
  readonly content?: boolean;
  /** Takes secrets out of content before it leaves. */
  readonly redact?: (text: string) => string;
}

const OPTIONS: OptionNames<TelemetryOptions> = { tracer: true, meter: true, ids: true, content: true, redact: true };

/** What all sessions write to. */
export interface Instruments extends Pick<TelemetryOptions, "ids" | "redact"> {
  readonly tracer: Tracer;
  readonly histograms: Readonly<Record<keyof typeof HISTOGRAMS, Histogram>>;
  readonly content: boolean;
}

/** Tells OpenTelemetry what happens in conversations, by its conventions for generative AI (docs/telemetry.md). */
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

  /** From now on, until the session is closed or the returned function is called. Follow a session once. */
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
   * The span of a call that runs in a conversation that is followed, as the `traceparent` of W3C's Trace Context: whoever is asked
   * something for that call can go on with its trace. Nothing where there is no such span.
   */
  traceparent(conversation: string, call: string): string | undefined {
    return this.#followed.get(conversation)?.traceparent(call);
  }
}

/** Of the instrumentation. */
const NAME = "@banyan/telemetry";
