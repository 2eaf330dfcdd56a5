import type { KeyBindings } from "../keys/key-bindings.ts";
import { bare, cut, widthOf, wrapped } from "../screen/cells.ts";
import type { Size } from "../screen/live-region.ts";
import type { Theme } from "../theme/theme.ts";
import { filled, rule } from "./drawn-lines.ts";
import type { Over, Overlay, View } from "./overlay.ts";

/** Something that is longer than a screen: the output of a call, a thought, a diff, a sub-agent's transcript. */
export interface Page {
  readonly title: string;
  /** As it is now: of one that grows, the end is followed until somebody moves away from it. */
  lines(width: number, theme: Theme): readonly string[];
}

/** What closes a page. */
const CLOSE = ["list-cancel", "page-close"] as const;

/** How pages are shown. */
export interface ViewerOptions {
  /** The end of the first one shown is shown, and followed. */
  readonly atEnd?: boolean;
  /** The key that opened them, for a hint. */
  readonly openKey?: string | undefined;
}

/**
 * Shows pages one at a time on the whole screen: the last one first; Left and Right go to the others. The key that opened
 * them goes to the one before, so that it comes to whatever says that it opens it; where there is none before, it closes.
 */
export class Viewer implements Overlay<never> {
  readonly isFull = true;
  readonly #pages: readonly Page[];
  readonly #openKey: string | undefined;
  #page: number;
  #top: number;
  #follows: boolean;
  #rows = 1;
  #last = 0;

  constructor(pages: readonly Page[], { atEnd = false, openKey }: ViewerOptions = {}) {
    this.#pages = pages;
    this.#openKey = openKey;
    this.#page = pages.length - 1;
    this.#top = 0;
    this.#follows = atEnd;
  }

  view({ columns, rows }: Size, theme: Theme): View {
    const page = this.#pages[this.#page];
    const lines = (page?.lines(columns, theme) ?? []).flatMap((line) => broken(line, columns));
    this.#rows = Math.max(1, rows - 2);
    this.#last = Math.max(0, lines.length - this.#rows);
    this.#top = this.#follows ? this.#last : Math.max(0, Math.min(this.#top, this.#last));
    const shown = lines.slice(this.#top, this.#top + this.#rows);
    const place = this.#pages.length > 1 ? theme.dim(`${this.#page + 1}/${this.#pages.length}`) : "";
    const seen =
      lines.length === 0 ? "empty" : `lines ${this.#top + 1} to ${this.#top + shown.length} of ${lines.length}`;
    return {
      lines: [
        rule(theme.bold(page?.title ?? ""), columns, theme, place),
        ...filled(shown, this.#rows),
        theme.dim(cut([seen, "Esc goes back", ...this.#others()].join(" · "), columns)),
      ],
    };
  }

  key(key: string, keys: KeyBindings): Over<never> | undefined {
    if (CLOSE.some((action) => keys.matches(key, action))) return {};
    if (keys.matches(key, "open-output")) {
      if (this.#page <= 0) return {};
      this.#turn(-1);
    } else if (keys.matches(key, "list-back")) this.#turn(-1);
    else if (keys.matches(key, "list-open")) this.#turn(1);
    else if (keys.matches(key, "list-up")) this.#move(this.#top - 1);
    else if (keys.matches(key, "list-down") || keys.matches(key, "list-choose")) this.#move(this.#top + 1);
    else if (keys.matches(key, "list-page-up")) this.#move(this.#top - this.#rows);
    else if (keys.matches(key, "list-page-down") || keys.matches(key, "page-on")) this.#move(this.#top + this.#rows);
    else if (keys.matches(key, "list-first")) this.#move(0);
    else if (keys.matches(key, "list-last")) this.#move(this.#last);
    return undefined;
  }

  #others(): string[] {
    if (this.#pages.length <= 1) return [];
    const before = this.#page > 0 && this.#openKey !== undefined ? [`${this.#openKey}: the one before`] : [];
    return [...before, "← →: the others"];
  }

  #move(top: number): void {
    this.#top = Math.max(0, Math.min(top, this.#last));
    this.#follows = this.#top === this.#last && this.#last > 0;
  }

  #turn(by: number): void {
    const page = Math.max(0, Math.min(this.#page + by, this.#pages.length - 1));
    if (page === this.#page) return;
    this.#page = page;
    this.#top = 0;
    this.#follows = false;
  }
}

/** A line that is too long as several, all of them set in as the first one is. */
function broken(line: string, columns: number): string[] {
  if (widthOf(line) <= columns) return [line];
  const [indent = ""] = /^ */.exec(bare(line)) ?? [];
  if (indent.length > columns / 2) return wrapped(line, columns);
  const [first = "", ...rest] = wrapped(line, columns - indent.length);
  return [first, ...rest.map((more) => indent + more)];
}
