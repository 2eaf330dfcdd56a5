import type { ModelPart } from "@banyan/core/drivers";

type Growing = { type: "text" | "reasoning"; text: string } | { type: "call-input"; index: number; text: string };

const NOTHING: readonly ModelPart[] = Object.freeze([]);

/** Collects the parts of one read. Neighbours that continue the same text become one part. */
export class Batch {
  #parts: ModelPart[] = [];
  /** The last of `#parts` while it can grow. Nobody else has seen it. */
  #last: Growing | undefined;
  /**
   * What it grows by. Joined at once: a text that grew by `+=` is put together when somebody reads it, of pieces that are
   * all over the memory by then, and until then all of them are kept.
   */
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

  /** The parts so far, which are the caller's from now on. */
  take(): readonly ModelPart[] {
    const parts = this.#parts;
    if (parts.length === 0) return NOTHING;
    this.#end();
    this.#parts = [];
    return parts;
  }

  #grow(part: Growing): void {
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
