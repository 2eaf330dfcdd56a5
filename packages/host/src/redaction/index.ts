export { refuse } from "./placeholder.ts";
export { redactedTools } from "./redacted-tools.ts";
export { RedactingStream } from "./redacting-stream.ts";
export { type Redact, redactor } from "./redactor.ts";
