import type { BlockLines, BlockLook, TranscriptBlock } from "./block.ts";

interface TranscriptEntry {
  readonly block: TranscriptBlock;
  /** Final lines that cannot be printed yet, because a block above them is not finished. */
  readonly pending: string[];
  begun: boolean;
}

/**
 * The unfinished blocks, in order. Returns the final lines of a block when all blocks above are finished, because
 * printed lines never change.
 */
export class Transcript {
  #entries: TranscriptEntry[] = [];
  /** True if the last finished line is empty or missing. */
  #isApart = true;

  add(block: TranscriptBlock): void {
    this.#entries.push({ block, pending: [], begun: false });
  }

  get last(): TranscriptBlock | undefined {
    return this.#entries.at(-1)?.block;
  }

  show(look: BlockLook): BlockLines {
    const finished: string[] = [];
    const open: string[] = [];
    let isTop = true;
    for (const entry of this.#entries) {
      const shown = entry.block.show(look);
      entry.pending.push(...shown.finished);
      if (isTop) {
        this.#finish(entry, finished);
        isTop = entry.block.isDone;
      }
      this.#open(entry, [...entry.pending, ...shown.open], open);
    }
    this.#entries = this.#entries.filter(({ block, pending }) => !block.isDone || pending.length > 0);
    return { finished, open };
  }

  #finish(entry: TranscriptEntry, finished: string[]): void {
    if (entry.pending.length === 0) return;
    if (entry.block.isApart && !entry.begun && !this.#isApart) finished.push("");
    for (const line of entry.pending.splice(0)) finished.push(line);
    entry.begun = true;
    this.#isApart = finished.at(-1) === "";
  }

  #open(entry: TranscriptEntry, lines: readonly string[], open: string[]): void {
    if (lines.length === 0) return;
    const above = open.length === 0 ? this.#isApart : open.at(-1) === "";
    if (entry.block.isApart && !entry.begun && !above) open.push("");
    open.push(...lines);
  }
}
