import type { Theme } from "../theme/theme.ts";
import { readyToLex } from "./blocks.ts";

/** Paints code, a line each; nothing for a language that it does not know. */
export type Highlight = (code: string, language: string) => readonly string[] | undefined;

/** Code and its changes in colours. */
export interface CodePaint {
  readonly theme: Theme;
  readonly highlight: Highlight;
}

/** How Markdown is shown. */
export interface Look {
  readonly theme: Theme;
  /** The terminal makes links of text (OSC 8). */
  readonly links: boolean;
  /** Absent until it is loaded, and where there are no colours. */
  readonly highlight?: Highlight | undefined;
}

/** Milliseconds without a key after which nobody waits for one to be echoed. */
const PAUSE = 300;

/** What paints code. To load it takes 90 ms, in which no key is heard. */
export class LateHighlight {
  readonly #theme: () => Theme;
  readonly #onLoaded: () => void;
  #highlight: Highlight | undefined;
  #isWanted = false;
  #pause: NodeJS.Timeout | undefined;

  constructor(theme: () => Theme, onLoaded: () => void) {
    this.#theme = theme;
    this.#onLoaded = onLoaded;
  }

  /** Absent until it is loaded, and where there are no colours. */
  get now(): Highlight | undefined {
    return this.#theme().depth > 1 ? this.#highlight : undefined;
  }

  /**
   * Loads it, and what reads Markdown, as soon as the person pauses, so that the first answer does not wait for them. `keyAt`:
   * when the last key came.
   */
  loadAhead(keyAt: () => number): void {
    this.#pause ??= setTimeout(() => {
      this.#pause = undefined;
      if (performance.now() < keyAt() + PAUSE) return this.loadAhead(keyAt);
      readyToLex();
      this.load();
    }, PAUSE).unref();
  }

  /** Loads it now, where that has not begun. */
  load(): void {
    if (this.#isWanted || this.#theme().depth === 1) return;
    this.#isWanted = true;
    import("./highlighter.ts").then(
      ({ createHighlighter }) => {
        this.#highlight = createHighlighter(this.#theme);
        this.#onLoaded();
      },
      () => {
        // Code can be read without colours, too.
      },
    );
  }
}
