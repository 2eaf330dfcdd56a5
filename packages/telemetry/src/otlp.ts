import { connect } from "node:net";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import { MeterProvider, PeriodicExportingMetricReader, type PushMetricExporter } from "@opentelemetry/sdk-metrics";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { RunIds } from "./run-ids.ts";
import { Telemetry } from "./telemetry.ts";
import { type Protocol, readOtlpVariables, type SamplerName, type SignalExport } from "./variables.ts";

type OtlpEnvironment = Readonly<Record<string, string | undefined>>;

/** Telemetry that sends spans and metrics by OTLP over HTTP. See {@link openOtlp}. */
export interface Otlp {
  readonly telemetry: Telemetry;
  readonly notices: readonly string[];
  /** Sends the remaining telemetry, for at most `patience` milliseconds (default 2,000). Never rejects. */
  close(patience?: number): Promise<void>;
}

/**
 * Environment, service name and error handler of {@link openOtlp}.
 * @example
 * const otlp = await openOtlp({
 *   env: process.env,
 *   service: "my-program",
 *   redact: (text) => text.replaceAll(/sk-\w+/g, "[key]"),
 *   failed: (sentence) => console.error(sentence),
 * });
 */
export interface OtlpOptions {
  /** Environment variables. The variables of the process have no effect. */
  readonly env: OtlpEnvironment;
  /** Service name if `OTEL_SERVICE_NAME` is not set. */
  readonly service: string;
  readonly redact: (text: string) => string;
  /** Called when sending fails: once for traces and once for metrics, until sending succeeds again. */
  failed(sentence: string): void;
}

const OPTIONS: OptionNames<OtlpOptions> = { env: true, service: true, redact: true, failed: true };

const LAST = 2_000;

/** Maximum characters of an attribute; longer text is cut. `OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT` overrides the limit. */
const LONGEST = 256 * 1024;

/**
 * Opens the exporters that OpenTelemetry's variables select (docs/telemetry.md). Ignores invalid variables, and reports
 * them in `notices`.
 * @example
 * const redact = (text: string) => text.replaceAll(/sk-\w+/g, "[key]");
 * const otlp = await openOtlp({ env: process.env, service: "garden", redact, failed: console.error });
 * otlp.telemetry.follow(session);
 * await otlp.close();
 */
export async function openOtlp(options: OtlpOptions): Promise<Otlp> {
  refuseUnknown("openOtlp", options, OPTIONS);
  const { env, service, redact, failed } = options;
  const { traces, metrics, notices, ...wanted } = readOtlpVariables(env);
  const tell = failures(failed);
  const ids = new RunIds();
  const resource = resourceFromAttributes({ "service.name": service }).merge(
    within(env, () => detectResources({ detectors: [envDetector] })),
  );
  const spans =
    traces &&
    new TracerProvider({
      resource,
      idGenerator: ids,
      sampler: SAMPLERS[wanted.sampler.name](wanted.sampler.ratio),
      spanLimits: { attributeValueLengthLimit: wanted.attributeLimit ?? LONGEST },
      spanProcessors: [
        new BatchSpanProcessor({
          exporter: watchExporter(await spanExporter(traces.protocol, env), "traces", tell),
          ...millis("scheduledDelayMillis", wanted.scheduleDelay),
        }),
      ],
    });
  const meters =
    metrics &&
    new MeterProvider({
      resource,
      readers: [
        new PeriodicExportingMetricReader({
          exporter: watchExporter(await metricExporter(metrics.protocol, env), "metrics", tell),
          ...millis("exportIntervalMillis", wanted.exportInterval),
        }),
      ],
    });
  return {
    telemetry: new Telemetry({
      ...(spans ? { tracer: spans.getTracer("@banyan/telemetry"), ids } : {}),
      ...(meters ? { meter: meters.getMeter("@banyan/telemetry") } : {}),
      content: wanted.content,
      redact,
    }),
    notices,
    async close(patience = LAST) {
      const ending = new AbortController();
      const sent = Promise.all([sentTo(traces, spans, ending.signal), sentTo(metrics, meters, ending.signal)]);
      const late = new Promise<"late"[]>((resolve) => setTimeout(resolve, patience, ["late"]).unref());
      const ends: readonly ("sent" | "unheard" | "late")[] = await Promise.race([sent, late]);
      ending.abort();
      if (ends.includes("late")) failed(`The last telemetry could not be sent within ${patience / 1_000} seconds.`);
      else if (ends.includes("unheard")) failed("The last telemetry could not be sent: the connection was refused.");
    },
  };
}

/** Sends the remaining data of a signal. Does not wait without a receiver: the exporter would then retry. */
function sentTo(
  sending: SignalExport | undefined,
  provider: { shutdown(): Promise<void> } | undefined,
  signal: AbortSignal,
): Promise<"sent" | "unheard"> | "sent" {
  if (!sending || !provider) return "sent";
  const sent = provider.shutdown().then(
    () => "sent" as const,
    () => "sent" as const,
  );
  return Promise.race([sent, unheard(sending.address, signal)]);
}

/** Resolves when the connection to an address fails. Stays pending if the connection succeeds. */
function unheard({ protocol, hostname, port }: URL, signal: AbortSignal): Promise<"unheard"> {
  return new Promise((resolve) => {
    const host = hostname.replace(/^\[|\]$/g, "");
    const socket = connect({ host, port: Number(port) || (protocol === "https:" ? 443 : 80) });
    socket.on("error", () => resolve("unheard"));
    socket.on("connect", () => socket.destroy());
    signal.addEventListener("abort", () => socket.destroy(), { once: true });
  });
}

async function spanExporter(protocol: Protocol, env: OtlpEnvironment): Promise<SpanExporter> {
  const { OTLPTraceExporter } =
    protocol === "http/json"
      ? await import("@opentelemetry/exporter-trace-otlp-http")
      : await import("@opentelemetry/exporter-trace-otlp-proto");
  return within(env, () => new OTLPTraceExporter());
}

async function metricExporter(protocol: Protocol, env: OtlpEnvironment): Promise<PushMetricExporter> {
  const { OTLPMetricExporter } =
    protocol === "http/json"
      ? await import("@opentelemetry/exporter-metrics-otlp-http")
      : await import("@opentelemetry/exporter-metrics-otlp-proto");
  return within(env, () => new OTLPMetricExporter());
}

/**
 * Runs `make` with `env` as the variables of the process: OpenTelemetry's classes read `process.env` in their
 * constructors. Options cannot prevent that: exporters would add the process's own headers, which may be secrets.
 */
function within<Part>(env: OtlpEnvironment, make: () => Part): Part {
  const own = process.env;
  process.env = { ...env };
  try {
    return make();
  } finally {
    process.env = own;
  }
}

/** Reports the first failure of a signal, and the next failure only after a success. */
function failures(failed: (sentence: string) => void) {
  const silent = new Set<string>();
  return (what: string, error: Error | undefined, ok: boolean) => {
    if (ok) silent.delete(what);
    else if (!silent.has(what)) {
      silent.add(what);
      failed(`The ${what} could not be sent: ${error?.message ?? "the receiver refused them"}.`);
    }
  };
}

function watchExporter<Exporter extends SpanExporter | PushMetricExporter>(
  exporter: Exporter,
  what: string,
  tell: ReturnType<typeof failures>,
): Exporter {
  const send = exporter.export.bind(exporter) as (items: unknown, done: (result: ExportResult) => void) => void;
  exporter.export = (items: unknown, done: (result: ExportResult) => void) =>
    send(items, (result) => {
      tell(what, result.error, result.code === 0);
      done(result);
    });
  return exporter;
}

interface ExportResult {
  /** 0 means success. */
  readonly code: number;
  readonly error?: Error;
}

const SAMPLERS: Readonly<Record<SamplerName, (ratio: number) => Sampler>> = {
  always_on: () => new AlwaysOnSampler(),
  always_off: () => new AlwaysOffSampler(),
  traceidratio: (ratio) => new TraceIdRatioBasedSampler(ratio),
  parentbased_always_on: () => new ParentBasedSampler({ root: new AlwaysOnSampler() }),
  parentbased_always_off: () => new ParentBasedSampler({ root: new AlwaysOffSampler() }),
  parentbased_traceidratio: (ratio) => new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
};

function millis<Name extends string>(name: Name, value: number | undefined) {
  return (value === undefined ? {} : { [name]: value }) as { readonly [Key in Name]?: number };
}
