import { createHash, randomBytes } from "node:crypto";

/**
 * Generates trace and span ids. Ids of a conversation derive from its log (run, response, call, question); all others
 * are random. A turn that two processes share after a crash is thus one trace, and a span sent by both is the same
 * span. Pass it to the tracer provider as `idGenerator`, and to `Telemetry` as `ids`.
 */
export class RunIds {
  #digest: string | undefined;

  /** Calls `start`, which starts one span, with ids derived from `name`. A name must be unique over all logs, like the id of a run. */
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
