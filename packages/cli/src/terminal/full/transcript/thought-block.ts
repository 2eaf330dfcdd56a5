import { hasPlace, type QuietPart } from "@banyan/client/display";
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

/**
 * Shows a model's reasoning: its last lines while it streams, one line afterwards unless the reasoning was short, and
 * in full as a page.
 */
export class ThoughtBlock implements TranscriptBlock, ViewerPage {
  readonly author = "agent";
  readonly title = "Thought";
  readonly #plain = new PlainText();
  readonly #began = Date.now();
  #text = "";
  #ended: number | undefined;
  #shownEnd = false;

  get isDone(): boolean {
    return this.#shownEnd;
  }

  get quiet(): QuietPart | "open" {
    if (this.#ended === undefined) return "open";
    return this.#text.trim() === "" ? { type: "empty" } : { type: "thought", time: this.#ended - this.#began };
  }

  push(text: string): void {
    this.#text += this.#plain.push(text);
  }

  end(): void {
    this.#ended ??= Date.now();
  }

  show({ theme, width, openKey }: BlockLook): BlockLines {
    const { quiet } = this;
    if (quiet === "open") {
      const tail = cutToEnd(this.#text, LIVE_TEXT).replace(/\s+/g, " ").trim();
      const lines = tail === "" ? [] : proseLines(tail, width).slice(-LIVE_LINES);
      return { finished: [], open: lines.map((line) => theme.dim(line)) };
    }
    const isShown = !this.#shownEnd && quiet.type === "thought" && hasPlace(quiet);
    this.#shownEnd = true;
    if (!isShown) return { finished: [], open: [] };
    const hint = openKey === undefined ? "" : ` (${openKey} shows it)`;
    const line = `${theme.accent("•")} thought${theme.dim(`${formatTook(quiet.time)}${hint}`)}`;
    return { finished: [cutToWidth(line, width)], open: [] };
  }

  lines(width: number, theme: Theme): readonly string[] {
    return this.#text
      .trim()
      .split("\n")
      .flatMap((line) => proseLines(theme.dim(line), width));
  }
}
