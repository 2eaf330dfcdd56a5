import { createRequire } from "node:module";
import { withLevelBound } from "@banyan/client/words";
import type { Token } from "marked";
import type { Theme } from "../theme/theme.ts";
import type { Highlight } from "./highlighter.ts";

/** The theme and the syntax highlighter for code and diffs. */
export interface CodePaint {
  readonly theme: Theme;
  readonly highlight: Highlight;
}

export interface Look {
  readonly theme: Theme;
  /** True if the terminal supports links (OSC 8). */
  readonly links: boolean;
  /** The syntax highlighter. Absent until it is loaded, and in a terminal without colours. */
  readonly highlight?: Highlight | undefined;
}

const require = createRequire(import.meta.url);

/** Parses Markdown into blocks. The parser takes 10 ms to load, so only the first call loads the parser. */
export function lexMarkdown(markdown: string): Token[] {
  const { Lexer, Tokenizer } = require("marked") as typeof import("marked");
  return new Lexer({ gfm: true, tokenizer: withLevelBound(new Tokenizer()) }).lex(markdown);
}

/** One block of each kind: the first parse compiles expressions, which takes 25 ms. */
const SAMPLE = "# a\n\nb *c* `d` [e](f)\n\n- g\n\n> h\n\n```\ni\n```\n\n| j |\n|---|\n| k |\n";

/** Parses a sample, so that the first real text is parsed without that delay. */
function loadLexer(): void {
  lexMarkdown(SAMPLE);
}

/** Milliseconds without a key after which the user counts as pausing. */
const PAUSE = 300;

/** Loads the syntax highlighter. Loading blocks the process for 90 ms, during which no key is handled. */
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

  /** Loads the highlighter and the parser when the user pauses. `keyAt` returns the time of the last key. */
  loadAhead(keyAt: () => number): void {
    this.#pause ??= setTimeout(() => {
      this.#pause = undefined;
      if (performance.now() < keyAt() + PAUSE) return this.loadAhead(keyAt);
      loadLexer();
      this.load();
    }, PAUSE).unref();
  }

  load(): void {
    if (this.#isWanted || this.#theme().depth === 1) return;
    this.#isWanted = true;
    import("./highlighter.ts").then(
      ({ createHighlighter }) => {
        this.#highlight = createHighlighter(this.#theme);
        this.#onLoaded();
      },
      () => {},
    );
  }
}
