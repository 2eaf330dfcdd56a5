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

/** The variables of an environment. */
type Environment = Readonly<Record<string, string | undefined>>;

/** What sends telemetry by OTLP over HTTP. */
export interface Otlp {
  readonly telemetry: Telemetry;
  /** What the variables want and cannot be had, in sentences. */
  readonly notices: readonly string[];
  /** Sends what is left, for at most two seconds. Never rejects. */
  close(): Promise<void>;
}

/**
 * From where, and for whom, telemetry is sent.
 * @example
 * const otlp = await openOtlp({
 *   env: process.env,
 *   service: "my-program",
 *   redact: (text) => text.replaceAll(/sk-\w+/g, "[key]"),
 *   failed: (sentence) => console.error(sentence),
 * });
 */
export interface OtlpOptions {
  /** The environment of the process: the exporters read addresses, headers, certificates and timeouts from it themselves. */
  readonly env: Environment;
  /** What the service is called when `OTEL_SERVICE_NAME` does not say. */
  readonly service: string;
  readonly redact: (text: string) => string;
  /** Hears why something could not be sent: once, until something was sent again. */
  failed(sentence: string): void;
}

const OPTIONS: OptionNames<OtlpOptions> = { env: true, service: true, redact: true, failed: true };

type Signal = "TRACES" | "METRICS";
type Protocol = "http/protobuf" | "http/json";

/** Milliseconds for what is left at the end. */
const LAST = 2_000;

/** Characters of an attribute: what is longer is cut, unless `OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT` says otherwise. */
const LONGEST = 256 * 1024;

/** Opens what the usual variables of OpenTelemetry ask for (docs/telemetry.md). What is wrong in them is said and left out. */
export async function openOtlp(options: OtlpOptions): Promise<Otlp> {
  refuseUnknown("openOtlp", options, OPTIONS);
  const { env, service, redact, failed } = options;
  const notices: string[] = [];
  const tell = failures(failed);
  const ids = new RunIds();
  const resource = resourceFromAttributes({ "service.name": service }).merge(
    detectResources({ detectors: [envDetector] }),
  );
  const traces = protocolOf("TRACES", env, notices);
  const metrics = protocolOf("METRICS", env, notices);
  const spans =
    traces &&
    new TracerProvider({
      resource,
      idGenerator: ids,
      sampler: samplerOf(env, notices),
      spanLimits: {
        attributeValueLengthLimit: wholeNumber("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", env, notices) ?? LONGEST,
      },
      spanProcessors: [
        new BatchSpanProcessor({
          exporter: watched(await spanExporter(traces), "traces", tell),
          ...millis("scheduledDelayMillis", wholeNumber("OTEL_BSP_SCHEDULE_DELAY", env, notices)),
        }),
      ],
    });
  const meters =
    metrics &&
    new MeterProvider({
      resource,
      readers: [
        new PeriodicExportingMetricReader({
          exporter: watched(await metricExporter(metrics), "metrics", tell),
          ...millis("exportIntervalMillis", wholeNumber("OTEL_METRIC_EXPORT_INTERVAL", env, notices)),
        }),
      ],
    });
  return {
    telemetry: new Telemetry({
      ...(spans ? { tracer: spans.getTracer("@banyan/telemetry"), ids } : {}),
      ...(meters ? { meter: meters.getMeter("@banyan/telemetry") } : {}),
      content: wantsContent(env, notices),
      redact,
    }),
    notices,
    async close() {
      const sent = Promise.allSettled([spans?.shutdown(), meters?.shutdown()]).then(() => true);
      const late = new Promise<false>((resolve) => setTimeout(resolve, LAST, false).unref());
      if (!(await Promise.race([sent, late]))) failed("What was left at the end could not be sent within two seconds.");
    },
  };
}

const SPEAKS: Readonly<Record<string, Protocol>> = { "http/protobuf": "http/protobuf", "http/json": "http/json" };

/** How a signal is sent; `undefined` when it is not. */
function protocolOf(signal: Signal, env: Environment, notices: string[]): Protocol | undefined {
  const exporter = set(env, `OTEL_${signal}_EXPORTER`) ?? (isAddressed(signal, env) ? "otlp" : "none");
  if (exporter === "none") return undefined;
  if (exporter !== "otlp") {
    notices.push(`OTEL_${signal}_EXPORTER is "${exporter}": Banyan sends by "otlp", or not at all with "none".`);
    return undefined;
  }
  const names = [`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`, "OTEL_EXPORTER_OTLP_PROTOCOL"];
  const name = names.find((known) => set(env, known) !== undefined);
  if (name === undefined) return "http/protobuf";
  const protocol = SPEAKS[set(env, name) ?? ""];
  if (!protocol)
    notices.push(`${name} is "${env[name]}": Banyan sends by "http/protobuf" or "http/json". Nothing is sent.`);
  return protocol;
}

function isAddressed(signal: Signal, env: Environment): boolean {
  return set(env, "OTEL_EXPORTER_OTLP_ENDPOINT", `OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`) !== undefined;
}

/** The first of the variables that says something: an empty one counts as unset. */
function set(env: Environment, ...names: readonly string[]): string | undefined {
  const name = names.find((known) => (env[known]?.trim() ?? "") !== "");
  return name === undefined ? undefined : env[name]?.trim();
}

async function spanExporter(protocol: Protocol): Promise<SpanExporter> {
  const { OTLPTraceExporter } =
    protocol === "http/json"
      ? await import("@opentelemetry/exporter-trace-otlp-http")
      : await import("@opentelemetry/exporter-trace-otlp-proto");
  return new OTLPTraceExporter();
}

async function metricExporter(protocol: Protocol): Promise<PushMetricExporter> {
  const { OTLPMetricExporter } =
    protocol === "http/json"
      ? await import("@opentelemetry/exporter-metrics-otlp-http")
      : await import("@opentelemetry/exporter-metrics-otlp-proto");
  return new OTLPMetricExporter();
}

/** Says once that nothing arrives, and again when it did meanwhile. */
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

/** An exporter whose results are heard. */
function watched<Exporter extends SpanExporter | PushMetricExporter>(
  exporter: Exporter,
  what: string,
  tell: ReturnType<typeof failures>,
): Exporter {
  const send = exporter.export.bind(exporter) as (items: unknown, done: (result: Result) => void) => void;
  exporter.export = (items: unknown, done: (result: Result) => void) =>
    send(items, (result) => {
      tell(what, result.error, result.code === 0);
      done(result);
    });
  return exporter;
}

interface Result {
  /** 0 when it was taken. */
  readonly code: number;
  readonly error?: Error;
}

const SAMPLERS: Readonly<Record<string, (ratio: number) => Sampler>> = {
  always_on: () => new AlwaysOnSampler(),
  always_off: () => new AlwaysOffSampler(),
  traceidratio: (ratio) => new TraceIdRatioBasedSampler(ratio),
  parentbased_always_on: () => new ParentBasedSampler({ root: new AlwaysOnSampler() }),
  parentbased_always_off: () => new ParentBasedSampler({ root: new AlwaysOffSampler() }),
  parentbased_traceidratio: (ratio) => new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
};

function samplerOf(env: Environment, notices: string[]): Sampler {
  const name = set(env, "OTEL_TRACES_SAMPLER") ?? "parentbased_always_on";
  const argument = set(env, "OTEL_TRACES_SAMPLER_ARG") ?? "1";
  const ratio = Number(argument);
  const sampler = Object.hasOwn(SAMPLERS, name) ? SAMPLERS[name] : undefined;
  if (!sampler)
    notices.push(`OTEL_TRACES_SAMPLER is "${name}": known are ${Object.keys(SAMPLERS).join(", ")}. All is sent.`);
  else if (ratio >= 0 && ratio <= 1) return sampler(ratio);
  else notices.push(`OTEL_TRACES_SAMPLER_ARG is "${argument}": it is a number from 0 to 1. All is sent.`);
  return new AlwaysOnSampler();
}

function wholeNumber(name: string, env: Environment, notices: string[]): number | undefined {
  const text = set(env, name);
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  notices.push(`${name} is "${text}": it is a whole number above 0. The default is used.`);
  return undefined;
}

function millis<Name extends string>(name: Name, value: number | undefined) {
  return (value === undefined ? {} : { [name]: value }) as { readonly [Key in Name]?: number };
}

const CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";
const CONTENTS: Readonly<Record<string, boolean>> = {
  true: true,
  span_only: true,
  span_and_event: true,
  false: false,
  no_content: false,
};

function wantsContent(env: Environment, notices: string[]): boolean {
  const text = set(env, CONTENT)?.toLowerCase() ?? "false";
  const wanted = Object.hasOwn(CONTENTS, text) ? CONTENTS[text] : undefined;
  if (wanted === undefined)
    notices.push(`${CONTENT} is "${text}": it is true or false. Nothing that was said is sent.`);
  return wanted ?? false;
}
