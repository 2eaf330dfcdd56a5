import { createHash, randomBytes } from "node:crypto";

/**
 * Makes the ids of traces and spans: those of a conversation follow from what the log has of it (a run, a response, a call, a
 * question), all others are random. So a turn that one process began and another one ended after a crash is one trace, and a span
 * that both send is the same span. Give it to the tracer provider as `idGenerator`, and to `Telemetry` as `ids`.
 */
export class RunIds {
  #digest: string | undefined;

  /** Calls `start`, which starts the span of what `name` stands for: a run, or anything else that is named once in all logs. */
  of<T>(name: string, start: () => T): T {
    this.#digest = createHash("sha256").update(name).digest("hex");
    try {
      return start();
    } finally {
      this.#digest = undefined;
    }
  }

  /** 32 hexadecimal digits. */
  generateTraceId(): string {
    return this.#digest?.slice(0, 32) ?? randomBytes(16).toString("hex");
  }

  /** 16 hexadecimal digits. */
  generateSpanId(): string {
    return this.#digest?.slice(32, 48) ?? randomBytes(8).toString("hex");
  }
}
