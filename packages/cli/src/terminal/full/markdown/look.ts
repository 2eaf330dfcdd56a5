import type { Theme } from "../theme/theme.ts";
import { readyToLex } from "./blocks.ts";

/** Highlights code, line by line; undefined for an unknown language. */
export type Highlight = (code: string, language: string) => readonly string[] | undefined;

/** Colours for code and diffs. */
export interface CodePaint {
  readonly theme: Theme;
  readonly highlight: Highlight;
}

/** Settings for rendering Markdown. */
export interface Look {
  readonly theme: Theme;
  /** True if the terminal supports links (OSC 8). */
  readonly links: boolean;
  /** Absent until loaded, and without colours. */
  readonly highlight?: Highlight | undefined;
}

/** Milliseconds without a key after which the user counts as pausing. */
const PAUSE = 300;

/** The syntax highlighter. Loading blocks the process for 90 ms, during which no key is handled. */
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

  /** The highlighter; undefined until loaded, and without colours. */
  get now(): Highlight | undefined {
    return this.#theme().depth > 1 ? this.#highlight : undefined;
  }

  /**
   * Loads the highlighter and the Markdown parser when the user pauses, so that the first answer does not wait.
   * `keyAt` returns the time of the last key.
   */
  loadAhead(keyAt: () => number): void {
    this.#pause ??= setTimeout(() => {
      this.#pause = undefined;
      if (performance.now() < keyAt() + PAUSE) return this.loadAhead(keyAt);
      readyToLex();
      this.load();
    }, PAUSE).unref();
  }

  /** Loads the highlighter now, unless loading has begun. */
  load(): void {
    if (this.#isWanted || this.#theme().depth === 1) return;
    this.#isWanted = true;
    import("./highlighter.ts").then(
      ({ createHighlighter }) => {
        this.#highlight = createHighlighter(this.#theme);
        this.#onLoaded();
      },
      () => {
        // Code is readable without colours.
      },
    );
  }
}
