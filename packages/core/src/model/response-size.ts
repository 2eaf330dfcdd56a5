import { ModelError, type ModelPart } from "../ports/model.ts";

/**
 * Maximum size of a response, in UTF-16 units.
 * @example new Agent({ model, bounds: { answer: 1_000_000, arguments: 100_000 } });
 */
export interface ResponseBounds {
  /** Text, reasoning and arguments together. Default 64 Mi. */
  readonly answer?: number | undefined;
  /** The arguments of one call. Default 32 Mi. */
  readonly arguments?: number | undefined;
}

const MEBI = 1024 * 1024;

/** Counts the size of a response, so that an endless response cannot fill the memory. */
export class ResponseSize {
  readonly #most: Required<{ [Bound in keyof ResponseBounds]: number }>;
  #answer = 0;
  readonly #arguments = new Map<number, number>();

  constructor({ answer = 64 * MEBI, arguments: ofCall = 32 * MEBI }: ResponseBounds = {}) {
    this.#most = { answer, arguments: ofCall };
  }

  /** Throws `ModelError` if the response is too large with these parts. The caller must then drop the parts. */
  add(parts: readonly ModelPart[]): void {
    for (const part of parts) {
      switch (part.type) {
        case "text":
        case "reasoning":
        case "provider":
          this.#answer += part.text.length;
          break;
        case "call-input": {
          const length = (this.#arguments.get(part.index) ?? 0) + part.text.length;
          this.#arguments.set(part.index, length);
          this.#answer += part.text.length;
          if (length > this.#most.arguments) throw tooLong("The arguments of a call", this.#most.arguments);
        }
      }
    }
    if (this.#answer > this.#most.answer) throw tooLong("An answer of the model", this.#most.answer);
  }
}

function tooLong(what: string, most: number): ModelError {
  return new ModelError(
    "provider",
    `${what} exceeded ${most.toLocaleString("en")} characters, so Banyan cut off the rest.`,
    {
      retryable: false,
    },
  );
}
