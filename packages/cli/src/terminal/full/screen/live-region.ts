import { leastWidthOf } from "./cells.ts";
import { NARROW_EVERYWHERE, NARROW_IN_THE_WEST, paintedLine, type RowCells, surelyFits } from "./row-change.ts";
import { countedSequence, RowPen } from "./row-pen.ts";

/** The size of a terminal, in columns and rows of cells. */
export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** Row and column of a character, from 0. */
export interface ScreenPosition {
  readonly row: number;
  readonly column: number;
}

/** The next content of a live region. Each line ends the colours that it begins. */
export interface RegionFrame {
  /** Final lines. They are written above the region and never change. They can be wider than the terminal. */
  readonly finished: readonly string[];
  /**
   * Lines of the region. If there are more lines than the rows of the screen less one, only the last lines are shown.
   */
  readonly lines: readonly string[];
  /** The position of the cursor in the lines. Absent: the cursor is hidden. */
  readonly cursor?: ScreenPosition | undefined;
  /** Leaves the hidden cursor at the top of the region. The terminal keeps the cursor there during a resize. */
  readonly waitsAtTop?: boolean | undefined;
}

const TOP: ScreenPosition = { row: 0, column: 0 };

/** Output between these appears at once on terminals with mode 2026. */
const BEGIN = "\x1b[?2026h";
const END = "\x1b[?2026l";
const SHOW_CURSOR = "\x1b[?25h";
const HIDE_CURSOR = "\x1b[?25l";
const WRAP_ON = "\x1b[?7h";
const WRAP_OFF = "\x1b[?7l";
/** Escape sequence that erases all lines from the cursor's line on, without adding to the history of tmux. */
export const ERASE_BELOW = "\x1b[2K\x1b[C\x1b[0J\r";

/** Properties of a terminal that decide how a region is drawn. */
interface RegionTerminal {
  /** True if the terminal rewraps long lines when it becomes narrower, as nearly all terminals do. */
  readonly reflows?: boolean;
  /** True if a program may draw before it learns the terminal's new size. */
  readonly reportsSizeLate?: boolean;
  /** True if the terminal shows letters, punctuation and table lines beyond ASCII in one cell. */
  readonly isNarrow?: boolean;
}

/**
 * The last lines of a terminal, redrawn in place; everything above is the terminal's own scrollback (T20, T21).
 * Computes the bytes; the owner writes them. All moves are relative to the last cursor, so the screen's state need not
 * be known. Lines of the region are never wider than the terminal (wrapping is off), and at most rows - 1.
 *
 * A frame writes only the characters that changed. Rows are inserted or deleted where lines move (V11). Finished lines
 * that are already on the screen stay there, and the region then begins below them.
 *
 * When its width changes, a terminal rewraps long lines before any program learns the size. tmux reports the size up
 * to a quarter of a second later. The distance to the region's top is then a guess from the last reported size and
 * the new one. A frame drawn in between makes the guess too large, and finished lines would be overwritten. During
 * frequent drawing the cursor therefore waits at the top (`waitsAtTop`): nearly all terminals keep the cursor at its
 * line, so no guess is needed. Where sizes are reported late, and during a resize, the cursor passes a finished line
 * only by writing the line, because the line may fill several rows. Within a frame the cursor moves down by line feeds,
 * which also work on a smaller screen. The remaining guess errs on the small side: remains of an old frame are ugly, but
 * overwritten lines are lost.
 */
export class LiveRegion {
  readonly #terminal: RegionTerminal;
  #lines: readonly string[] = [];
  #cursor = TOP;
  #size: ScreenSize | undefined;
  #isCursorShown = true;
  #wraps = true;
  /** Time when the terminal last had a new size, in milliseconds of `performance.now()`. */
  #resizedAt = Number.NEGATIVE_INFINITY;
  /** Finished lines that the last frame left in their rows, and the time of that frame. */
  #stayed: readonly string[] = [];
  #stayedAt = Number.NEGATIVE_INFINITY;

  constructor(terminal: RegionTerminal = {}) {
    this.#terminal = terminal;
  }

  /** Returns the bytes that change the screen to this frame; empty without a change. */
  draw(frame: RegionFrame, size: ScreenSize): string {
    const { finished, waitsAtTop = false } = frame;
    const hidden = Math.max(0, frame.lines.length - Math.max(1, size.rows - 1));
    const lines = frame.lines.slice(hidden);
    const cursor = frame.cursor && { ...frame.cursor, row: Math.max(0, frame.cursor.row - hidden) };
    const rest = waitsAtTop ? TOP : (cursor ?? { row: Math.max(0, lines.length - 1), column: 0 });
    const resized = size.columns !== this.#size?.columns || size.rows !== this.#size.rows;
    if (resized && this.#size) this.#resizedAt = performance.now();
    const pen = new RowPen(this.#cursor);
    const stays = !resized && this.#mayStay(frame, lines, size);
    if (stays) {
      pen.change(this.#lines, [...finished, ...lines], this.#cells(size));
      pen.moveTo(finished.length + rest.row, rest.column);
    } else {
      this.#rewrite(pen, finished, lines, size);
      pen.moveTo(rest.row, rest.column);
    }
    if (finished.length > 0 || !stays) this.#stayed = stays ? finished : [];
    if (finished.length > 0) this.#stayedAt = performance.now();
    this.#lines = lines;
    this.#cursor = rest;
    this.#size = size;
    return this.#framed(pen, { wraps: !waitsAtTop, isCursorShown: cursor !== undefined && !waitsAtTop });
  }

  /** Erases the region. The cursor is left at its top, at the beginning of a line. */
  erase(size: ScreenSize): string {
    const up = countedSequence(this.#rowsToTop(size), "A");
    this.forget();
    const wrap = this.#wraps ? "" : WRAP_ON;
    this.#wraps = true;
    this.#isCursorShown = true;
    return `${BEGIN}${wrap}\r${up}${ERASE_BELOW}${SHOW_CURSOR}${END}`;
  }

  /** Forgets the last frame: the next one begins at the cursor. */
  forget(): void {
    this.#lines = [];
    this.#cursor = TOP;
    this.#size = undefined;
  }

  /** Returns whether the rows of finished lines are certain, so that the lines need not be written anew. */
  #mayStay({ finished, waitsAtTop }: RegionFrame, lines: readonly string[], size: ScreenSize): boolean {
    if (finished.length === 0) return true;
    if (!waitsAtTop || this.#terminal.reportsSizeLate || finished.length + lines.length >= size.rows) return false;
    if (performance.now() < this.#resizedAt + SETTLES_IN) return false;
    return finished.every((line) => surelyFits(line, this.#cells(size)));
  }

  #cells({ columns }: ScreenSize): RowCells {
    return { columns, narrow: this.#terminal.isNarrow ? NARROW_IN_THE_WEST : NARROW_EVERYWHERE };
  }

  #rewrite(pen: RowPen, finished: readonly string[], lines: readonly string[], size: ScreenSize): void {
    const again = this.#inDoubt(size);
    const above = [...again, ...finished].map((line) => `${paintedLine(line)}\r\n`).join("");
    let bytes = `\r${countedSequence(this.#rowsToTop(size) + again.length, "A")}${ERASE_BELOW}`;
    if (above !== "") bytes += WRAP_ON + above + WRAP_OFF;
    pen.write(bytes + lines.map(paintedLine).join("\r\n"), undefined, Math.max(0, lines.length - 1));
    pen.isUnsteady = true;
  }

  /** Adds the modes of a frame. Cells that are only overwritten need no synchronised output. */
  #framed({ bytes, isUnsteady }: RowPen, { wraps, isCursorShown }: RegionModes): string {
    const isStill = bytes === "" && wraps === this.#wraps && isCursorShown === this.#isCursorShown;
    if (isStill) return "";
    const before = (this.#isCursorShown ? HIDE_CURSOR : "") + (this.#wraps ? WRAP_OFF : "");
    const after = (wraps ? WRAP_ON : "") + (isCursorShown ? SHOW_CURSOR : "");
    const isSynchronised = isUnsteady || before + after !== "";
    this.#wraps = wraps;
    this.#isCursorShown = isCursorShown;
    return isSynchronised ? BEGIN + before + bytes + after + END : bytes;
  }

  /**
   * The lines that the last frame left in their rows, if the terminal may have become narrower just before: the frame
   * may then have overwritten their ends.
   */
  #inDoubt({ columns }: ScreenSize): readonly string[] {
    const isNarrower = this.#size !== undefined && columns < this.#size.columns;
    return isNarrower && performance.now() < this.#stayedAt + REPORTED_IN ? this.#stayed : [];
  }

  /** Rows from the cursor up to the region's top, in a terminal of this size. */
  #rowsToTop({ columns }: ScreenSize): number {
    const { reflows = true } = this.#terminal;
    if (!this.#size || columns >= this.#size.columns || !reflows) return this.#cursor.row;
    const above = this.#lines
      .slice(0, this.#cursor.row)
      .map((line) => Math.max(1, Math.ceil(leastWidthOf(line) / columns)));
    return above.reduce((sum, count) => sum + count, 0) + Math.floor(this.#cursor.column / columns);
  }
}

/** Milliseconds after which a new size is used, if no other follows. tmux reports the next size within 250 ms. */
export const SETTLES_IN = 500;

/** Milliseconds in which a terminal that reports its size at once has surely done so. */
const REPORTED_IN = 50;

/** Modes of the terminal after a frame. Wrapping stays off, and the cursor hidden, while frames come by themselves. */
interface RegionModes {
  readonly wraps: boolean;
  readonly isCursorShown: boolean;
}

/** Returns the properties of the terminal that an environment describes. */
export function regionTerminal(env: NodeJS.ProcessEnv): RegionTerminal {
  return { reflows: breaksLinesAnew(env), reportsSizeLate: reportsSizeLate(env), isNarrow: isNarrow(env) };
}

/** Returns whether a program may draw before it learns the terminal's new size: others are between them. */
function reportsSizeLate(env: NodeJS.ProcessEnv): boolean {
  return LATE.some((name) => env[name] !== undefined) || !keepsCursorAtLine(env);
}

/** Returns whether the language's fonts have narrow letters and symbols beyond ASCII. East Asian fonts show some wide. */
function isNarrow({ LC_ALL, LC_CTYPE, LANG }: NodeJS.ProcessEnv): boolean {
  return !/^(?:ja|ko|zh)/.test(LC_ALL || LC_CTYPE || LANG || "");
}

/** Variables of multiplexers, connections to other machines, and terminals that rewrite the output. */
const LATE = ["TMUX", "STY", "ZELLIJ", "SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY", "WT_SESSION"] as const;

/** Returns whether the cursor stays on its line when lines are rewrapped, unlike in terminals based on xterm.js. */
export function keepsCursorAtLine({ TERM_PROGRAM = "", TMUX, STY }: NodeJS.ProcessEnv): boolean {
  return TMUX !== undefined || STY !== undefined || !["vscode", "Hyper", "Tabby"].includes(TERM_PROGRAM);
}

/** Returns whether the terminal rewraps lines when its width changes. All terminals but the ones listed here do. */
export function breaksLinesAnew({ TERM = "", XTERM_VERSION, TMUX, STY }: NodeJS.ProcessEnv): boolean {
  if (TMUX) return true;
  return !(XTERM_VERSION || STY || TERM === "linux" || TERM.startsWith("rxvt"));
}
