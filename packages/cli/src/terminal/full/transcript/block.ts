import type { QuietPart } from "@banyan/client/display";
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
  /** Final lines. Each line is returned only once. */
  readonly finished: readonly string[];
  /** The lines below, which may change. */
  readonly open: readonly string[];
}

/** The author of a block: the user, the agent, or the program, whose lines belong to the block above. */
export type BlockAuthor = "user" | "agent" | "program";

/** A part of the transcript: a message, a streaming answer, a call. */
export interface TranscriptBlock {
  readonly author: BlockAuthor;
  /** True if `show` has returned all its lines. */
  readonly isDone: boolean;
  /**
   * The part of the block that folds with its neighbours (T68). `open`: only the end of the block shows whether it
   * folds. Undefined for a block that stays on lines of its own.
   */
  readonly quiet?: QuietPart | "open" | undefined;
  show(look: BlockLook): BlockLines;
}

/** Returns the part of a block that folds now. */
export function quietPartOf({ quiet }: TranscriptBlock): QuietPart | undefined {
  return quiet === "open" ? undefined : quiet;
}

export class TextBlock implements TranscriptBlock {
  readonly author: BlockAuthor;
  isDone = false;
  readonly #lines: (look: BlockLook) => readonly string[];

  constructor(lines: (look: BlockLook) => readonly string[], author: BlockAuthor = "program") {
    this.#lines = lines;
    this.author = author;
  }

  show(look: BlockLook): BlockLines {
    if (this.isDone) return { finished: [], open: [] };
    this.isDone = true;
    return { finished: this.#lines(look), open: [] };
  }
}
