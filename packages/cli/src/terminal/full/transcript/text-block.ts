import type { Block, BlockLines, BlockLook } from "./block.ts";

/** Something that is said and done with. */
export class TextBlock implements Block {
  readonly isApart: boolean;
  isDone = false;
  readonly #lines: (look: BlockLook) => readonly string[];

  constructor(lines: (look: BlockLook) => readonly string[], isApart = false) {
    this.#lines = lines;
    this.isApart = isApart;
  }

  show(look: BlockLook): BlockLines {
    if (this.isDone) return { finished: [], open: [] };
    this.isDone = true;
    return { finished: this.#lines(look), open: [] };
  }
}
