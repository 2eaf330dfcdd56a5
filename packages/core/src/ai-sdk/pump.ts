import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { ModelError, type ModelPart, type ModelSink } from "../ports/model.ts";
import type { ResponseParts } from "./response-parts.ts";

/** Parts that wait at most, however many are there at once. */
const BATCH = 256;

/** Runs a function once everything that is there already has been read. */
const soon: (run: () => void) => unknown =
  typeof setImmediate === "function" ? setImmediate : (run) => setTimeout(run, 0);

/**
 * Reads the stream of a response to its end into a sink: what is there at once goes in one batch.
 *
 * @param interrupted Rejects when `signal` aborts.
 */
export async function pump(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  response: ResponseParts,
  sink: ModelSink,
  signal: AbortSignal,
  interrupted: Promise<never>,
): Promise<void> {
  const reader = stream.getReader();
  // A stream that broke by itself rejects here too; its end is known from the read.
  const cancel = () => {
    reader.cancel(signal.reason).catch(() => {});
  };
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();

  let batch: ModelPart[] = [];
  let full = false;
  let refused: { readonly error: unknown } | undefined;
  let flushed: Promise<void> | undefined;

  /** Something came that is no part: that too is told. */
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
          // Thrown again by the loop below, which the end of the stream wakes up.
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
        // A source that never pauses must not keep the program from anything else.
        if (batch.length >= BATCH) await flushed;
      }
    }
    // Read to its end, the connection can serve the next request. How it ends is of no interest: the response is complete.
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

/** Reads what is left after the end, which is nothing or a little. */
async function drain(reader: ReadableStreamDefaultReader<unknown>): Promise<void> {
  for (let left = 16; left > 0; left--) if ((await reader.read()).done) return;
  await reader.cancel();
}
