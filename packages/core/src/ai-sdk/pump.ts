import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { ModelError, type ModelPart, type ModelSink } from "../ports/model.ts";
import { soon } from "../ports/runtime.ts";
import type { ResponseParts } from "./response-parts.ts";

/** Maximum number of parts that wait for one batch. */
const BATCH = 256;

/**
 * Reads the whole stream of a response into a sink. Parts that are available at once form one batch.
 * @param interrupted Rejects when `signal` aborts.
 */
export async function readStreamInto(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  response: ResponseParts,
  sink: ModelSink,
  signal: AbortSignal,
  interrupted: Promise<never>,
): Promise<void> {
  const reader = stream.getReader();
  // A stream that broke by itself rejects here too; the read reports that error.
  const cancel = () => {
    reader.cancel(signal.reason).catch(() => {});
  };
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();

  let batch: ModelPart[] = [];
  let full = false;
  let refused: { readonly error: unknown } | undefined;
  let flushed: Promise<void> | undefined;

  /** Data without a part arrived: a sign of life. */
  let alive = false;

  const flush = () => {
    if (batch.length === 0 && !alive) return;
    alive = false;
    const parts = batch;
    batch = [];
    full = !sink.push(parts);
  };
  const flushSoon = () =>
    new Promise<void>((resolve) =>
      soon(() => {
        flushed = undefined;
        try {
          flush();
        } catch (error) {
          // The loop below throws this error when the cancelled stream ends the read.
          refused = { error };
          cancel();
        }
        resolve();
      }),
    );

  try {
    while (!response.finished) {
      const { done, value } = await reader.read();
      if (refused) throw refused.error;
      signal.throwIfAborted();
      if (done)
        throw new ModelError("broken-stream", { fact: "The answer broke off before its end", advice: "try again" });
      response.read(value, batch);
      if (full) await Promise.race([sink.ready(), interrupted]);
      full = false;
      alive ||= batch.length === 0;
      if (!response.finished) {
        flushed ??= flushSoon();
        // A source that never pauses must not block the program.
        if (batch.length >= BATCH) await flushed;
      }
    }
    // A connection that was read to its end can serve the next request. The response is complete, so errors do not
    // matter.
    drain(reader).catch(() => {});
  } catch (error) {
    cancel();
    throw error;
  } finally {
    signal.removeEventListener("abort", cancel);
    alive = false;
    flush();
  }
}

async function drain(reader: ReadableStreamDefaultReader<unknown>): Promise<void> {
  for (let left = 16; left > 0; left--) if ((await reader.read()).done) return;
  await reader.cancel();
}
