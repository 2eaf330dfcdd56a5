import type { Json } from "@banyan/core";
import { isJsonRecord } from "@banyan/core/shown";

type Detail = Record<string, Json>;

/**
 * Assembles OpenRouter's `reasoning_details` from their pieces (https://openrouter.ai/docs/use-cases/reasoning-tokens).
 * A text comes in pieces with its signature last; encrypted details come whole.
 */
export class ReasoningDetails {
  readonly #details: Detail[] = [];

  get all(): readonly Detail[] {
    return this.#details;
  }

  add(pieces: readonly unknown[]): void {
    for (const piece of pieces) {
      if (!isJsonRecord(piece)) continue;
      const detail = piece as Detail;
      const last = this.#details.at(-1);
      if (last && continues(last, detail)) this.#details[this.#details.length - 1] = mergeDetails(last, detail);
      else this.#details.push(detail);
    }
  }
}

function continues(last: Detail, piece: Detail): boolean {
  return piece.type !== "reasoning.encrypted" && last.type === piece.type && last.index === piece.index;
}

function mergeDetails(last: Detail, piece: Detail): Detail {
  const both: Detail = { ...last };
  for (const [key, value] of Object.entries(piece)) {
    const before = both[key];
    const grows = (key === "text" || key === "summary") && typeof before === "string" && typeof value === "string";
    if (grows) both[key] = before + value;
    else if (value !== null || before === undefined) both[key] = value;
  }
  return both;
}
