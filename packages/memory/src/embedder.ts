import type { EmbeddingModelV4 } from "@ai-sdk/provider";
import { errorMessage } from "@banyan/core/shown";
import { MemoryError } from "./error.ts";
import { runWithin } from "./wait.ts";

/** Maximum texts per call. */
const BATCH = 96;

/** Makes vectors of texts, with a timeout. */
export class Embedder {
  /** Identifies vectors of this model. */
  readonly name: string;
  readonly #model: EmbeddingModelV4;

  constructor(model: EmbeddingModelV4) {
    this.name = `${model.provider}/${model.modelId}`;
    this.#model = model;
  }

  /** Maximum texts per call. Rejects with `MemoryError` if the model cannot tell. */
  async batch(): Promise<number> {
    try {
      return Math.max(1, Math.min(BATCH, (await this.#model.maxEmbeddingsPerCall) ?? BATCH));
    } catch (error) {
      throw this.#unusable(error);
    }
  }

  /**
   * Returns vectors of length 1 in the order of the texts, at most `batch()` texts. Rejects with `MemoryError` if the
   * model fails or takes longer than `milliseconds`, and with the reason of the signal.
   */
  async embed(texts: readonly string[], milliseconds: number, signal: AbortSignal): Promise<Float32Array[]> {
    const late = () => new Error(`it did not answer within ${milliseconds} ms`);
    try {
      const { embeddings } = await runWithin(milliseconds, late, signal, (abortSignal) =>
        this.#model.doEmbed({ values: [...texts], abortSignal }),
      );
      if (embeddings.length !== texts.length) throw new Error("it did not answer with a vector for each text");
      return embeddings.map(unit);
    } catch (error) {
      signal.throwIfAborted();
      throw this.#unusable(error);
    }
  }

  #unusable(cause: unknown): MemoryError {
    const why = errorMessage(cause);
    const message = `The embedding model ${this.name} cannot be used (${why}); until then memory searches by words only. Check its settings.`;
    return new MemoryError("embedder", message, { cause });
  }
}

/** Scales a vector to length 1. Throws if that is impossible. */
function unit(vector: readonly number[]): Float32Array {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const length = Math.sqrt(squares);
  if (!(length > 0 && length < Infinity)) throw new Error("it answered with a vector that has no direction");
  return Float32Array.from(vector, (value) => value / length);
}
