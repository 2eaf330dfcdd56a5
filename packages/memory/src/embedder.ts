import type { EmbeddingModelV4 } from "@ai-sdk/provider";
import { errorMessage } from "@banyan/core/shown";
import { MemoryError } from "./error.ts";
import { runWithin } from "./wait.ts";

/** Maximum texts per call. */
const BATCH = 96;

/** Calls an embedding model, with a timeout. */
export class Embedder {
  /** Identifies the model in stored vectors. */
  readonly name: string;
  readonly #model: EmbeddingModelV4;

  constructor(model: EmbeddingModelV4) {
    this.name = `${model.provider}/${model.modelId}`;
    this.#model = model;
  }

  async batch(): Promise<number> {
    try {
      return Math.max(1, Math.min(BATCH, (await this.#model.maxEmbeddingsPerCall) ?? BATCH));
    } catch (error) {
      throw this.#unusable(error);
    }
  }

  /** Returns unit vectors in the order of the texts, at most `batch()`. Rejects with `MemoryError`. */
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
    const message = `The embedding model ${this.name} cannot be used (${why}), so memory finds entries only by their words. Check the settings of the model.`;
    return new MemoryError("embedder", message, { cause });
  }
}

function unit(vector: readonly number[]): Float32Array {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const length = Math.sqrt(squares);
  if (!(length > 0 && length < Infinity)) throw new Error("it answered with a vector that has no direction");
  return Float32Array.from(vector, (value) => value / length);
}
