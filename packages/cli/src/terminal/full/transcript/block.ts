import type { Look } from "../markdown/look.ts";

/** Settings for showing a block. */
export interface BlockLook extends Look {
  readonly width: number;
  /** Maximum open lines; the last ones are shown. */
  readonly room: number;
  readonly now: number;
  /** Key that opens cut text, for a hint. */
  readonly openKey?: string | undefined;
}

export interface BlockLines {
  /** Final lines; each is returned once. */
  readonly finished: readonly string[];
  /** The lines below, which may change. */
  readonly open: readonly string[];
}

/** A part of the transcript: a message, a streaming answer, a call. */
export interface TranscriptBlock {
  /** True if an empty line precedes the block. */
  readonly isApart: boolean;
  /** True if `show` has returned all its lines. */
  readonly isDone: boolean;
  show(look: BlockLook): BlockLines;
}

export class TextBlock implements TranscriptBlock {
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
