import type { Theme } from "../theme/theme.ts";

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
