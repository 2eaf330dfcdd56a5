import { formatTook } from "@banyan/client/words";
import { cutToEnd } from "@banyan/core/shown";
import { PlainText } from "../../../show/plain-text.ts";
import type { ViewerPage } from "../overlay/overlay.ts";
import { cutToWidth, proseLines } from "../screen/cells.ts";
import type { Theme } from "../theme/theme.ts";
import type { BlockLines, BlockLook, TranscriptBlock } from "./block.ts";

const LIVE_LINES = 3;
/** Characters that suffice for these lines. */
const LIVE_TEXT = 2_000;

/** Shows a model's reasoning: its last lines while it streams, one line afterwards, and in full as a page. */
export class ThoughtBlock implements TranscriptBlock, ViewerPage {
  readonly isApart = true;
  readonly title = "Thought";
  readonly #plain = new PlainText();
  readonly #began = Date.now();
  #text = "";
  #ended: number | undefined;
  #shownEnd = false;

  get isDone(): boolean {
    return this.#shownEnd;
  }

  push(text: string): void {
    this.#text += this.#plain.push(text);
  }

  end(): void {
    this.#ended ??= Date.now();
  }

  show({ theme, width, openKey }: BlockLook): BlockLines {
    if (this.#shownEnd || this.#text.trim() === "") {
      this.#shownEnd = this.#ended !== undefined;
      return { finished: [], open: [] };
    }
    if (this.#ended === undefined) {
      const tail = cutToEnd(this.#text, LIVE_TEXT).replace(/\s+/g, " ").trim();
      return {
        finished: [],
        open: proseLines(tail, width)
          .slice(-LIVE_LINES)
          .map((line) => theme.dim(line)),
      };
    }
    this.#shownEnd = true;
    const hint = openKey === undefined ? "" : ` (${openKey} shows it)`;
    const line = `${theme.accent("•")} thought${theme.dim(`${formatTook(this.#ended - this.#began)}${hint}`)}`;
    return { finished: [cutToWidth(line, width)], open: [] };
  }

  lines(width: number, theme: Theme): readonly string[] {
    return this.#text
      .trim()
      .split("\n")
      .flatMap((line) => proseLines(theme.dim(line), width));
  }
}
