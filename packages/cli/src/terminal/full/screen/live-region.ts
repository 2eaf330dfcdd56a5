import { leastWidthOf } from "./cells.ts";

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
  /** Final lines, written above the region and never changed. They may be wider than the terminal. */
  readonly finished: readonly string[];
  /** Lines of the region. If there are more lines than rows less one, the last lines are shown. */
  readonly lines: readonly string[];
  /** The cursor's place in the lines; hidden if absent. */
  readonly cursor?: ScreenPosition | undefined;
  /** Leaves the hidden cursor at the region's top, where the terminal keeps it during a resize. */
  readonly waitsAtTop?: boolean | undefined;
}

const TOP: ScreenPosition = { row: 0, column: 0 };

/** Output between these appears at once on terminals with mode 2026. */
const BEGIN = "\x1b[?2026h\x1b[?25l";
const END = "\x1b[?2026l";
const SHOW_CURSOR = "\x1b[?25h";
const WRAP_ON = "\x1b[?7h";
const WRAP_OFF = "\x1b[?7l";
const ERASE_LINE = "\x1b[2K";
/** Escape sequence that erases all lines from the cursor's line on, without adding to the history of tmux. */
export const ERASE_BELOW = "\x1b[2K\x1b[C\x1b[0J\r";
const RESET = "\x1b[0m";

/**
 * The last lines of a terminal, redrawn in place; everything above is the terminal's own scrollback (T20, T21).
 * Computes the bytes; the owner writes them. All moves are relative to the last cursor, so the screen's state need not
 * be known. Lines of the region are never wider than the terminal (wrapping is off), and at most rows - 1.
 *
 * When its width changes, a terminal rewraps long lines before any program learns the size. tmux reports the size up
 * to a quarter of a second later. The distance to the region's top is then a guess from the last reported size and
 * the new one. A frame drawn in between makes the guess too large, and finished lines would be overwritten. During
 * frequent drawing the cursor therefore waits at the top (`waitsAtTop`): nearly all terminals keep the cursor at its
 * line, so no guess is needed. Within a frame the cursor moves down by line feeds, which also work on a smaller
 * screen. The remaining guess errs on the small side: remains of an old frame are ugly, but overwritten lines are lost.
 */
export class LiveRegion {
  readonly #reflows: boolean;
  #lines: readonly string[] = [];
  #cursor = TOP;
  #size: ScreenSize | undefined;

  /** `reflows`: the terminal rewraps long lines when it becomes narrower, as nearly all do. */
  constructor(reflows = true) {
    this.#reflows = reflows;
  }

  /** Returns the bytes that change the screen to this frame; empty without a change. */
  draw(frame: RegionFrame, size: ScreenSize): string {
    const hidden = Math.max(0, frame.lines.length - Math.max(1, size.rows - 1));
    const lines = frame.lines.slice(hidden);
    const cursor = frame.cursor && { ...frame.cursor, row: Math.max(0, frame.cursor.row - hidden) };
    const rest = frame.waitsAtTop ? TOP : (cursor ?? { row: Math.max(0, lines.length - 1), column: 0 });
    const resized = size.columns !== this.#size?.columns || size.rows !== this.#size.rows;
    const { bytes, row } =
      resized || frame.finished.length > 0 ? this.#rewrite(frame.finished, lines, size) : this.#update(lines);
    const still = bytes === "" && rest.row === this.#cursor.row && rest.column === this.#cursor.column;
    this.#lines = lines;
    this.#cursor = rest;
    this.#size = size;
    return still ? "" : BEGIN + bytes + move(row, rest) + (cursor && !frame.waitsAtTop ? SHOW_CURSOR : "") + END;
  }

  /** Erases the region. The cursor is left at its top, at the beginning of a line. */
  erase(size: ScreenSize): string {
    const up = upBy(this.#rowsToTop(size));
    this.forget();
    return `${BEGIN}\r${up}${ERASE_BELOW}${SHOW_CURSOR}${END}`;
  }

  /** Forgets the last frame: the next one begins at the cursor. */
  forget(): void {
    this.#lines = [];
    this.#cursor = TOP;
    this.#size = undefined;
  }

  #rewrite(finished: readonly string[], lines: readonly string[], size: ScreenSize): RegionOutput {
    let bytes = `\r${upBy(this.#rowsToTop(size))}${ERASE_BELOW}`;
    for (const line of finished) bytes += `${resetAtEnd(line)}\r\n`;
    bytes += WRAP_OFF + lines.map(resetAtEnd).join("\r\n") + WRAP_ON;
    return { bytes, row: Math.max(0, lines.length - 1) };
  }

  #update(lines: readonly string[]): RegionOutput {
    const old = this.#lines;
    const common = Math.min(old.length, lines.length);
    let bytes = "";
    let row = this.#cursor.row;
    for (let index = 0; index < common; index++) {
      if (old[index] === lines[index]) continue;
      bytes += move(row, { row: index, column: 0 }) + ERASE_LINE + resetAtEnd(lines[index] ?? "");
      row = index;
    }
    if (lines.length < old.length) {
      bytes += move(row, { row: common, column: 0 }) + ERASE_BELOW;
      row = common;
    }
    if (lines.length > old.length) {
      if (common > 0) bytes += `${move(row, { row: common - 1, column: 0 })}\r\n`;
      bytes += lines.slice(common).map(resetAtEnd).join("\r\n");
      row = lines.length - 1;
    }
    return { bytes: bytes === "" ? "" : WRAP_OFF + bytes + WRAP_ON, row };
  }

  /** Rows from the cursor up to the region's top, in a terminal of this size. */
  #rowsToTop({ columns }: ScreenSize): number {
    if (!this.#size || columns >= this.#size.columns || !this.#reflows) return this.#cursor.row;
    const above = this.#lines
      .slice(0, this.#cursor.row)
      .map((line) => Math.max(1, Math.ceil(leastWidthOf(line) / columns)));
    return above.reduce((sum, count) => sum + count, 0) + Math.floor(this.#cursor.column / columns);
  }
}

/** Bytes, and the region's row in which they leave the cursor. */
interface RegionOutput {
  readonly bytes: string;
  readonly row: number;
}

/** Returns whether the cursor stays on its line when lines are rewrapped, unlike in terminals based on xterm.js. */
export function keepsCursorAtLine({ TERM_PROGRAM = "", TMUX, STY }: NodeJS.ProcessEnv): boolean {
  return TMUX !== undefined || STY !== undefined || !["vscode", "Hyper", "Tabby"].includes(TERM_PROGRAM);
}

/** Returns whether the terminal rewraps lines when its width changes. All terminals but the ones listed here do. */
export function breaksLinesAnew({ TERM = "", XTERM_VERSION, TMUX, STY }: NodeJS.ProcessEnv): boolean {
  if (TMUX) return true;
  return !(XTERM_VERSION || STY || TERM === "linux" || TERM.startsWith("rxvt"));
}

function move(row: number, to: ScreenPosition): string {
  const vertical = to.row < row ? upBy(row - to.row) : "\n".repeat(to.row - row);
  return `\r${vertical}${to.column > 0 ? `\x1b[${to.column}C` : ""}`;
}

function upBy(rows: number): string {
  return rows > 0 ? `\x1b[${rows}A` : "";
}

function resetAtEnd(line: string): string {
  return line.includes("\x1b[") ? line + RESET : line;
}
