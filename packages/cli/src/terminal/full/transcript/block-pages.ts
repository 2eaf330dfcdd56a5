import { foldNeighbours, foldSentence, hasPlace } from "@banyan/client/display";
import type { ViewerPage } from "../overlay/overlay.ts";
import { quietPartOf, type TranscriptBlock } from "./block.ts";

const MOST_BLOCKS = 400;

/** The last blocks of the transcript, and the pages that show them in full. */
export class BlockPages {
  #blocks: { readonly block: TranscriptBlock; readonly page: ViewerPage | undefined }[] = [];

  /** Adds a block. `page` shows the block in full. */
  add(block: TranscriptBlock, page?: ViewerPage): void {
    this.#blocks.push({ block, page });
    if (this.#blocks.length > MOST_BLOCKS) this.#blocks = this.#blocks.slice(-MOST_BLOCKS / 2);
  }

  /** Returns the pages, newest last. A fold is one page with all its parts. */
  get all(): readonly ViewerPage[] {
    const pages: ViewerPage[] = [];
    for (const group of foldNeighbours(this.#blocks, ({ block }) => quietPartOf(block))) {
      const [first, ...more] = group.flatMap(({ page }) => page ?? []);
      if (!first) continue;
      const parts = group.flatMap(({ block }) => quietPartOf(block) ?? []);
      const placed = parts.filter(hasPlace);
      const title = placed.length < 2 ? first.title : foldSentence(placed);
      const page = more.length === 0 ? first : foldPage(title, [first, ...more]);
      // A hidden thought is behind the page that the transcript names.
      const isHidden = parts.length > 0 && placed.length === 0;
      pages.splice(isHidden ? Math.max(0, pages.length - 1) : pages.length, 0, page);
    }
    return pages;
  }
}

/** A page with all pages of a fold, in order. */
function foldPage(title: string, pages: readonly ViewerPage[]): ViewerPage {
  return {
    title,
    lines: (width, theme) =>
      pages.flatMap((page, index) => [
        ...(index === 0 ? [] : [""]),
        theme.bold(page.title),
        ...page.lines(width - 2, theme).map((line) => `  ${line}`),
      ]),
  };
}
