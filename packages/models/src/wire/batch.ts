import type { ModelPart } from "@banyan/core";

type Growing = { type: "text" | "reasoning"; text: string } | { type: "call-input"; index: number; text: string };

/** Collects the parts of one read. Neighbours that continue the same text become one part. */
export class Batch {
  #parts: ModelPart[] = [];
  /** The last of `#parts` while it can grow. Nobody else has seen it. */
  #last: Growing | undefined;

  text(type: "text" | "reasoning", text: string): void {
    if (this.#last?.type === type) this.#last.text += text;
    else this.#grow({ type, text });
  }

  callInput(index: number, text: string): void {
    if (this.#last?.type === "call-input" && this.#last.index === index) this.#last.text += text;
    else this.#grow({ type: "call-input", index, text });
  }

  add(part: ModelPart): void {
    this.#parts.push(part);
    this.#last = undefined;
  }

  /** The parts so far, which are the caller's from now on. */
  take(): readonly ModelPart[] {
    const parts = this.#parts;
    if (parts.length > 0) {
      this.#parts = [];
      this.#last = undefined;
    }
    return parts;
  }

  #grow(part: Growing): void {
    this.#parts.push(part);
    this.#last = part;
  }
}
