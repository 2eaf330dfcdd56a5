import { statSync } from "node:fs";
import { nearest } from "@banyan/core/shown";

type TelemetryEnvironment = Readonly<Record<string, string | undefined>>;

/** Encoding of requests to a telemetry collector, as in `OTEL_EXPORTER_OTLP_PROTOCOL`. */
export type Protocol = "http/protobuf" | "http/json";

/** Encoding and address for one signal: traces or metrics. */
export interface SignalExport {
  readonly protocol: Protocol;
  /** Complete URL, with its path. */
  readonly address: URL;
}

/** The settings in OpenTelemetry's environment variables (docs/telemetry.md). */
export interface OtlpVariables {
  /** Where and how traces are sent. Absent if no traces are sent. */
  readonly traces?: SignalExport;
  readonly metrics?: SignalExport;
  readonly sampler: { readonly name: SamplerName; readonly ratio: number };
  /** Maximum characters of an attribute. */
  readonly attributeLimit?: number;
  readonly scheduleDelay?: number;
  readonly exportInterval?: number;
  /** True if spans contain text of the conversation. */
  readonly content: boolean;
  readonly notices: readonly string[];
}

const samplerNames = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;
/** A valid value of `OTEL_TRACES_SAMPLER`. */
export type SamplerName = (typeof samplerNames)[number];

const SIGNALS = ["TRACES", "METRICS"] as const;
type Signal = (typeof SIGNALS)[number];

const CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";
const DISABLED = "OTEL_SDK_DISABLED";
const OF_SENDING = ["ENDPOINT", "PROTOCOL", "HEADERS", "TIMEOUT", "COMPRESSION", "CERTIFICATE", "CLIENT_KEY"] as const;
const sendingNames = [...OF_SENDING, "CLIENT_CERTIFICATE"].flatMap((name) => [
  `OTEL_EXPORTER_OTLP_${name}`,
  ...SIGNALS.map((signal) => `OTEL_EXPORTER_OTLP_${signal}_${name}`),
]);

/** All variables that Banyan reads. A similar name is probably a typing error; other names belong to other programs. */
const known: readonly string[] = [
  ...sendingNames,
  ...SIGNALS.map((signal) => `OTEL_${signal}_EXPORTER`),
  ...["OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG", "OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES"],
  ...["OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "OTEL_BSP_SCHEDULE_DELAY", "OTEL_METRIC_EXPORT_INTERVAL", CONTENT, DISABLED],
];

/** Variables that resemble a variable of Banyan, but have another meaning in OpenTelemetry's specification. */
const OTHERS =
  /^OTEL_(?:EXPORTER_OTLP_)?(?:LOGS|BLRP|PROPAGATORS|SPAN|EVENT|LINK|EXPERIMENTAL|LOG|NODE|METRICS_EXEMPLAR|METRIC_EXPORT_TIMEOUT|BSP|EXPORTER_(?:ZIPKIN|JAEGER|PROMETHEUS))/;

/** Reads OpenTelemetry's environment variables. Does not load the exporters. */
export function readOtlpVariables(env: TelemetryEnvironment): OtlpVariables {
  const notices = unknownOtelVariables(env);
  const read = new Variables(env, notices);
  if (read.choice(DISABLED, { true: true, false: false }, false, "true or false"))
    return { sampler: { name: "parentbased_always_on", ratio: 1 }, content: false, notices };
  const [traces, metrics] = SIGNALS.map((signal) => read.sending(signal));
  if (traces || metrics) read.checkSending();
  const limits = {
    attributeLimit: read.wholeNumber("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT"),
    scheduleDelay: read.wholeNumber("OTEL_BSP_SCHEDULE_DELAY"),
    exportInterval: read.wholeNumber("OTEL_METRIC_EXPORT_INTERVAL"),
  };
  return {
    ...(traces && { traces }),
    ...(metrics && { metrics }),
    sampler: read.sampler(),
    ...(Object.fromEntries(
      Object.entries(limits).filter(([, value]) => value !== undefined),
    ) as Partial<OtlpVariables>),
    content: read.choice(CONTENT, CONTENTS, false, "true or false. No text of the conversation is sent"),
    notices: [...new Set(notices)],
  };
}

const CONTENTS = { true: true, span_only: true, span_and_event: true, false: false, no_content: false };

function unknownOtelVariables(env: TelemetryEnvironment): string[] {
  return Object.keys(env).flatMap((name) => {
    if (!name.startsWith("OTEL_") || known.includes(name) || OTHERS.test(name)) return [];
    const near = nearest(name, known, 2);
    return near.length === 0 ? [] : `Banyan does not read ${name}. Did you mean ${near.join(" or ")}?`;
  });
}

class Variables {
  readonly #env: TelemetryEnvironment;
  readonly #notices: string[];

  constructor(env: TelemetryEnvironment, notices: string[]) {
    this.#env = env;
    this.#notices = notices;
  }

  #first(...names: readonly string[]): { readonly name: string; readonly text: string } | undefined {
    for (const name of names) {
      const text = this.#env[name]?.trim() ?? "";
      if (text !== "") return { name, text };
    }
    return undefined;
  }

  #wrong(name: string, text: string, expected: string): undefined {
    this.#notices.push(`${name} is "${text}". Use ${expected}.`);
    return undefined;
  }

  choice<Value>(name: string, values: Readonly<Record<string, Value>>, usual: Value, expected: string): Value {
    const text = this.#first(name)?.text.toLowerCase();
    if (text === undefined) return usual;
    if (Object.hasOwn(values, text)) return values[text] as Value;
    this.#wrong(name, text, expected);
    return usual;
  }

  wholeNumber(name: string): number | undefined {
    const text = this.#first(name)?.text;
    if (text === undefined || /^[1-9]\d{0,8}$/.test(text)) return text === undefined ? undefined : Number(text);
    return this.#wrong(name, text, "a whole number above 0. The default is used");
  }

  /** Returns encoding and address of a signal; undefined if the signal is not sent. */
  sending(signal: Signal): SignalExport | undefined {
    const own = `OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`;
    const endpoint = this.#first(own, "OTEL_EXPORTER_OTLP_ENDPOINT");
    const exporter = this.#first(`OTEL_${signal}_EXPORTER`);
    if (exporter === undefined && endpoint === undefined) return undefined;
    if (exporter && exporter.text !== "otlp")
      return exporter.text === "none"
        ? undefined
        : this.#wrong(exporter.name, exporter.text, '"otlp" or "none". Nothing is sent');
    const protocol = this.#protocol(signal);
    const { name = own, text = "http://localhost:4318" } = endpoint ?? {};
    if (!/^https?:\/\/[^/]/i.test(text) || !URL.canParse(text))
      return this.#wrong(name, text, "an address that begins with http:// or https://. Nothing is sent");
    const address = new URL(text);
    if (name !== own || !endpoint)
      address.pathname = `${address.pathname.replace(/\/$/, "")}/v1/${signal.toLowerCase()}`;
    return protocol && { protocol, address };
  }

  #protocol(signal: Signal): Protocol | undefined {
    const named = this.#first(`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`, "OTEL_EXPORTER_OTLP_PROTOCOL");
    if (!named) return "http/protobuf";
    const { name, text } = named;
    if (text === "http/protobuf" || text === "http/json") return text;
    return this.#wrong(name, text, '"http/protobuf" or "http/json". Nothing is sent');
  }

  sampler(): OtlpVariables["sampler"] {
    const { name: variable, text } = this.#first("OTEL_TRACES_SAMPLER") ?? { name: "", text: "parentbased_always_on" };
    const all = { name: "always_on", ratio: 1 } as const;
    const name = samplerNames.find((each) => each === text);
    if (!name) return this.#wrong(variable, text, `one of ${samplerNames.join(", ")}. All traces are sent`) ?? all;
    const argument = this.#first("OTEL_TRACES_SAMPLER_ARG");
    const ratio = Number(argument?.text ?? 1);
    if (ratio >= 0 && ratio <= 1) return { name, ratio };
    return this.#wrong(argument?.name ?? "", argument?.text ?? "", "a number from 0 to 1. All traces are sent") ?? all;
  }

  /** Checks variables that OpenTelemetry's own code reads, because that code ignores faults. */
  checkSending(): void {
    const of = (name: string) =>
      ["", ...SIGNALS.map((signal) => `${signal}_`)].flatMap(
        (signal) => this.#first(`OTEL_EXPORTER_OTLP_${signal}${name}`) ?? [],
      );
    for (const { name, text } of of("TIMEOUT"))
      if (!/^[1-9]\d{0,8}$/.test(text))
        this.#wrong(name, text, "a whole number of milliseconds above 0. The default is used");
    for (const { name, text } of of("COMPRESSION"))
      if (text !== "gzip" && text !== "none") this.#wrong(name, text, '"gzip" or "none". Nothing is compressed');
    // Do not repeat a header in the notice: it is a secret.
    for (const { name, text } of of("HEADERS"))
      if (!text.split(",").every(isPair)) this.#notices.push(`${name} is not a list such as name=value,other=value.`);
    for (const file of ["CERTIFICATE", "CLIENT_KEY", "CLIENT_CERTIFICATE"])
      for (const { name, text } of of(file))
        if (!statSync(text, { throwIfNoEntry: false })?.isFile()) this.#wrong(name, text, "the path of a file");
    const attributes = this.#first("OTEL_RESOURCE_ATTRIBUTES");
    if (attributes && !attributes.text.split(",").every(isPair))
      this.#wrong(attributes.name, attributes.text, "a list such as name=value,other=value. The variable is ignored");
  }
}

function isPair(text: string): boolean {
  const pair = text.trim();
  if (pair === "") return true;
  try {
    return /^[^=\s]+\s*=/.test(pair) && decodeURIComponent(pair) !== "";
  } catch {
    return false;
  }
}
