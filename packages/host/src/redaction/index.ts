export { redactedLoop } from "./redacted-loop.ts";
export { redactedTools } from "./redacted-tools.ts";
export { RedactingStream } from "./redacting-stream.ts";
export { type Redact, redactor } from "./redactor.ts";
export { refuse } from "./span.ts";
