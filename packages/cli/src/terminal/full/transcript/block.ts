import type { Look } from "../markdown/look.ts";

/** What blocks are shown with. */
export interface BlockLook extends Look {
  readonly width: number;
  /** Lines for what is still open, as seen from the last of them. */
  readonly room: number;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The key that opens what is cut, for a hint. */
  readonly openKey?: string | undefined;
}

/** What is seen of a block. */
export interface BlockLines {
  /** Final, and answered once. */
  readonly finished: readonly string[];
  /** Below them; it may change. */
  readonly open: readonly string[];
}

/** A piece of the transcript: a message, an answer that streams, a call. */
export interface Block {
  /** Stands apart from what is above it. */
  readonly isApart: boolean;
  /** Nothing more will come of it once `show` has answered what it has. */
  readonly isDone: boolean;
  show(look: BlockLook): BlockLines;
}

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
