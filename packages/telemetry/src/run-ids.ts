import { createHash, randomBytes } from "node:crypto";

/**
 * Generates trace and span ids. Derives the ids of a conversation's spans from ids in its log. If two processes run one
 * turn (after a crash), they therefore report one trace. All other ids are random. Pass it to the tracer provider as
 * `idGenerator`, and to `Telemetry` as `ids`.
 * @example
 * const ids = new RunIds();
 * const provider = new TracerProvider({ idGenerator: ids });
 * new Telemetry({ tracer: provider.getTracer("garden"), ids }).follow(session);
 */
export class RunIds {
  #digest: string | undefined;

  /** Calls `start`, which starts one span, with ids derived from `name`, which must be unique over all logs. */
  of<T>(name: string, start: () => T): T {
    this.#digest = createHash("sha256").update(name).digest("hex");
    try {
      return start();
    } finally {
      this.#digest = undefined;
    }
  }

  generateTraceId(): string {
    return this.#digest?.slice(0, 32) ?? randomBytes(16).toString("hex");
  }

  generateSpanId(): string {
    return this.#digest?.slice(32, 48) ?? randomBytes(8).toString("hex");
  }
}
