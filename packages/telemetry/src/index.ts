export { RunIds } from "./run-ids.ts";
export { Telemetry, type TelemetryOptions } from "./telemetry.ts";
