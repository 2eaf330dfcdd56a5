import type { Environment } from "@banyan/models";
import type { Otlp } from "@banyan/telemetry/otlp";
import type { Redact } from "./redaction/index.ts";

/** What asks for telemetry; a project cannot, since these are variables of the user's. */
const ASKING = [
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
  "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
  "OTEL_TRACES_EXPORTER",
  "OTEL_METRICS_EXPORTER",
];

/** Opens what the variables of OpenTelemetry ask for. Without them nothing is loaded. */
export async function openTelemetry(
  env: Environment,
  { redact, failed }: { readonly redact: Redact; failed(sentence: string): void },
): Promise<Otlp | undefined> {
  if (env.OTEL_SDK_DISABLED?.trim().toLowerCase() === "true") return undefined;
  if (!ASKING.some((name) => !["", "none", undefined].includes(env[name]?.trim()))) return undefined;
  const { openOtlp } = await import("@banyan/telemetry/otlp");
  return openOtlp({ env, service: "banyan", redact, failed });
}
