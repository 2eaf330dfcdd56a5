import { createHash, randomBytes } from "node:crypto";

/**
 * Makes the ids of traces and spans: random ones, but for a turn, whose ids follow from the id of its run. So a turn that
 * one process began and another one ended after a crash is one trace, whichever of them tells of it. Give it to the tracer
 * provider as `idGenerator`, and to `Telemetry` as `ids`.
 */
export class RunIds {
  #digest: string | undefined;

  /** Calls `start`, which starts the span of a run. */
  of<T>(run: string, start: () => T): T {
    this.#digest = createHash("sha256").update(run).digest("hex");
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
