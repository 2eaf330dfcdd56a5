import type { ModelPart } from "@banyan/core/drivers";

type GrowingPart = { type: "text" | "reasoning"; text: string } | { type: "call-input"; index: number; text: string };

const NOTHING: readonly ModelPart[] = Object.freeze([]);

/** Collects the parts that one network read contained. Joins adjacent fragments of a text. */
export class Batch {
  #parts: ModelPart[] = [];
  /** The last part while it can grow. */
  #last: GrowingPart | undefined;
  /** Further fragments of `#last`, joined once: a string built by `+=` keeps all its fragments scattered in memory. */
  #more: string[] = [];

  text(type: "text" | "reasoning", text: string): void {
    if (this.#last?.type === type) this.#more.push(text);
    else this.#grow({ type, text });
  }

  callInput(index: number, text: string): void {
    if (this.#last?.type === "call-input" && this.#last.index === index) this.#more.push(text);
    else this.#grow({ type: "call-input", index, text });
  }

  add(part: ModelPart): void {
    this.#end();
    this.#parts.push(part);
  }

  take(): readonly ModelPart[] {
    const parts = this.#parts;
    if (parts.length === 0) return NOTHING;
    this.#end();
    this.#parts = [];
    return parts;
  }

  #grow(part: GrowingPart): void {
    this.add(part);
    this.#last = part;
  }

  #end(): void {
    if (this.#last && this.#more.length > 0) {
      this.#last.text += this.#more.join("");
      this.#more = [];
    }
    this.#last = undefined;
  }
}
