import { counted } from "@banyan/core/shown";
import type { KeyBindings } from "../keys/key-bindings.ts";
import { cutToWidth, paintedAt, textWidth, withoutColors, wrapCells } from "../screen/cells.ts";
import type { ScreenSize } from "../screen/live-region.ts";
import type { Theme } from "../theme/theme.ts";
import { hintLine, keyHint, padLines, rule } from "./drawn-lines.ts";
import { LineInput } from "./line-input.ts";
import type { Overlay, OverlayEnd, OverlayView, ViewerPage } from "./overlay.ts";

const CLOSE = ["list-cancel", "page-close"] as const;

export interface ViewerOptions {
  /** True to begin at the end of the page, and to follow that end as the page grows. */
  readonly atEnd?: boolean;
  /** The key that opened the viewer, for a hint. */
  readonly openKey?: string | undefined;
}

/**
 * Shows one page at a time on the whole screen, the last page first. Left and Right show the others. The key that
 * opened the viewer shows the previous page; on the first page it closes the viewer. A search highlights all its
 * matches in a page.
 */
export class Viewer implements Overlay<never> {
  readonly isFull = true;
  readonly #pages: readonly ViewerPage[];
  readonly #openKey: string | undefined;
  readonly #search = new LineInput();
  /** First visible line before the search, while its text is being typed. */
  #typingFrom: number | undefined;
  #at = 0;
  #lines: readonly string[] = [];
  #page: number;
  #top: number;
  #follows: boolean;
  #rows = 1;
  #last = 0;

  constructor(pages: readonly ViewerPage[], { atEnd = false, openKey }: ViewerOptions = {}) {
    this.#pages = pages;
    this.#openKey = openKey;
    this.#page = pages.length - 1;
    this.#top = 0;
    this.#follows = atEnd;
  }

  view({ columns, rows }: ScreenSize, theme: Theme, _isArmed: boolean, keys: KeyBindings): OverlayView {
    const page = this.#pages[this.#page];
    const lines = (page?.lines(columns, theme) ?? []).flatMap((line) => broken(line, columns));
    this.#lines = lines;
    this.#rows = Math.max(1, rows - 2);
    this.#last = Math.max(0, lines.length - this.#rows);
    this.#top = this.#follows ? this.#last : Math.max(0, Math.min(this.#top, this.#last));
    const places = placesIn(lines, this.#search.text);
    const shown = lines
      .slice(this.#top, this.#top + this.#rows)
      .map((line, index) => paintRanges(line, places.get(this.#top + index), theme.selected));
    const place = this.#pages.length > 1 ? theme.dim(`${this.#page + 1}/${this.#pages.length}`) : "";
    const head = rule(theme.bold(page?.title ?? ""), columns, theme, place);
    const drawn = [head, ...padLines(shown, this.#rows)];
    if (this.#typingFrom === undefined)
      return {
        lines: [
          ...drawn,
          theme.dim(hintLine(this.#hints(lines, [...places.values()].filter(begins).length, keys), columns)),
        ],
      };
    const typed = theme.bold("search: ") + this.#search.text;
    const column = Math.min(columns - 1, textWidth(typed));
    return { lines: [...drawn, cutToWidth(typed, columns)], cursor: { row: drawn.length, column } };
  }

  key(key: string, keys: KeyBindings): OverlayEnd<never> | undefined {
    if (this.#typingFrom !== undefined) return this.#typed(this.#typingFrom, key, keys);
    if (keys.matches(key, "list-cancel") && this.#search.text !== "") {
      this.#search.text = "";
      return undefined;
    }
    if (CLOSE.some((action) => keys.matches(key, action))) return {};
    if (keys.matches(key, "open-output")) {
      if (this.#page <= 0) return {};
      this.#turn(-1);
    } else if (keys.matches(key, "page-search")) {
      this.#search.text = "";
      this.#typingFrom = this.#top;
    } else if (keys.matches(key, "page-next")) this.#find(this.#at + 1, 1);
    else if (keys.matches(key, "page-previous")) this.#find(this.#at - 1, -1);
    else if (keys.matches(key, "list-back")) this.#turn(-1);
    else if (keys.matches(key, "list-open")) this.#turn(1);
    else if (keys.matches(key, "list-up")) this.#move(this.#top - 1);
    else if (keys.matches(key, "list-down") || keys.matches(key, "list-choose")) this.#move(this.#top + 1);
    else if (keys.matches(key, "list-page-up")) this.#move(this.#top - this.#rows);
    else if (keys.matches(key, "list-page-down") || keys.matches(key, "page-on")) this.#move(this.#top + this.#rows);
    else if (keys.matches(key, "list-first")) this.#move(0);
    else if (keys.matches(key, "list-last")) this.#move(this.#last);
    return undefined;
  }

  /** While the user types a search, jumps to the first match. */
  #typed(from: number, key: string, keys: KeyBindings): undefined {
    if (keys.matches(key, "interrupt") || keys.matches(key, "cancel")) {
      this.#typingFrom = undefined;
      this.#search.text = "";
      this.#move(from);
    } else if (keys.matches(key, "list-choose")) this.#typingFrom = undefined;
    else if (this.#search.key(key, keys)) {
      this.#move(from);
      this.#find(from, 1);
    }
  }

  /** Jumps to the nearest match from a line on, and continues at the other end. */
  #find(from: number, by: 1 | -1): void {
    const { text } = this.#search;
    const count = this.#lines.length;
    const places = placesIn(this.#lines, text);
    for (let step = 0; step < count; step++) {
      const at = (((from + by * step) % count) + count) % count;
      if (!begins(places.get(at))) continue;
      this.#at = at;
      if (at < this.#top || at >= this.#top + this.#rows) this.#move(at - Math.floor(this.#rows / 3));
      return;
    }
  }

  #hints(lines: readonly string[], found: number, keys: KeyBindings): readonly string[] {
    const { text } = this.#search;
    const end = Math.min(lines.length, this.#top + this.#rows);
    const seen = lines.length === 0 ? "empty" : `lines ${this.#top + 1} to ${end} of ${lines.length}`;
    if (text !== "")
      return [
        `“${text}” ${found === 0 ? "is not there" : `in ${counted(found, "line")}`}`,
        keyHint(keys, "list-cancel", "ends the search"),
        ...(found > 1 ? [keyHint(keys, ["page-next", "page-previous"], "next, previous")] : []),
        seen,
      ];
    const isBehind = this.#page > 0 && this.#openKey !== undefined;
    return [
      seen,
      keyHint(keys, "list-cancel", "goes back"),
      ...(isBehind ? [`${this.#openKey} previous page`] : []),
      ...(this.#pages.length > 1 ? [keyHint(keys, ["list-back", "list-open"], "other pages")] : []),
      ...(this.#last > 0 ? [keyHint(keys, "page-search", "searches")] : []),
    ];
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
    this.#at = 0;
    this.#follows = false;
  }
}

interface LineRange {
  readonly from: number;
  readonly to: number;
  readonly isMore: boolean;
}

/** Finds a text in lines, ignoring case and line wraps. Returns the matches by line number. */
function placesIn(lines: readonly string[], searched: string): ReadonlyMap<number, readonly LineRange[]> {
  const found = new Map<number, LineRange[]>();
  const wanted = lowerCased(searched)
    .trim()
    .split(/\s+/)
    .map((word) => RegExp.escape(word))
    .join("\\s+");
  if (wanted === "") return found;
  const said = lines.map((line) => lowerCased(withoutColors(line)));
  const whole = said.join("\n");
  let line = 0;
  let begin = 0;
  for (const { index, 0: text } of whole.matchAll(new RegExp(wanted, "g"))) {
    const end = index + text.length;
    for (; begin < end; line++) {
      const own = said[line] ?? "";
      // The indentation of a wrapped line is not part of the match.
      const from = index < begin ? own.length - own.trimStart().length : index - begin;
      const to = Math.min(own.length, end - begin);
      if (from < to) found.set(line, [...(found.get(line) ?? []), { from, to, isMore: index < begin }]);
      // The next match may begin in the line in which this one ends.
      if (end <= begin + own.length) break;
      begin += own.length + 1;
    }
  }
  return found;
}

/** Lower case, unless that changes the length and thus the offsets. */
function lowerCased(text: string): string {
  const small = text.toLowerCase();
  return small.length === text.length ? small : text;
}

function begins(places: readonly LineRange[] = []): boolean {
  return places.some(({ isMore }) => !isMore);
}

function paintRanges(line: string, places: readonly LineRange[] = [], paint: (text: string) => string): string {
  const said = withoutColors(line);
  return places.reduceRight((painted, { from, to }) => {
    const column = textWidth(said.slice(0, from));
    return paintedAt(painted, column, paint, textWidth(said.slice(from, to)));
  }, line);
}

/** Wraps a long line with the indentation of its beginning. */
function broken(line: string, columns: number): string[] {
  if (textWidth(line) <= columns) return [line];
  const [indent = ""] = /^ */.exec(withoutColors(line)) ?? [];
  if (indent.length > columns / 2) return wrapCells(line, columns);
  const [first = "", ...rest] = wrapCells(line, columns - indent.length);
  return [first, ...rest.map((more) => indent + more)];
}
