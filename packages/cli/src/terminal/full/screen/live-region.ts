import { leastWidthOf } from "./cells.ts";

/** Columns and rows of a terminal. */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** A place among lines, from 0. */
export interface Position {
  readonly row: number;
  readonly column: number;
}

/** What is to be seen next. Each line ends what it begins, colours too. */
export interface Frame {
  /** Lines that are final: they are written above the region and never touched again. They may be wider than the terminal. */
  readonly finished: readonly string[];
  /** The region, from top to bottom; of more than the rows less one, the last are shown. */
  readonly lines: readonly string[];
  /** Where the cursor stands among the lines; it is hidden when absent. */
  readonly cursor?: Position | undefined;
  /** The cursor, hidden, waits at the top of the region: the terminal itself keeps it there when its size changes. */
  readonly waitsAtTop?: boolean | undefined;
}

const TOP: Position = { row: 0, column: 0 };

/** Frames between these appear at once, on terminals that know it (mode 2026). */
const BEGIN = "\x1b[?2026h\x1b[?25l";
const END = "\x1b[?2026l";
const SHOW_CURSOR = "\x1b[?25h";
const WRAP_ON = "\x1b[?7h";
const WRAP_OFF = "\x1b[?7l";
const ERASE_LINE = "\x1b[2K";
/** From the line of the cursor on. Not from the corner of the screen: tmux takes that for a screen that is worth keeping. */
export const ERASE_BELOW = "\x1b[2K\x1b[C\x1b[0J\r";
const RESET = "\x1b[0m";

/**
 * The last lines of a terminal, which are redrawn in place; everything above them is the terminal's own scrollback (T20,
 * T21). It works out the bytes; its owner writes them. All moves are relative to where the cursor was left, so nothing
 * needs to be known of the screen:
 *
 * ```
 *   finished lines, the shell's output        never touched
 *   ┌ the top of the region                   reached by moving up from the cursor
 *   │ lines of the region                     never wider than the terminal (wrapping is off), at most rows - 1
 *   └ ...
 * ```
 *
 * When the terminal changes its width, it breaks lines that became too long anew before anybody is told; tmux may tell
 * a quarter of a second later. How far the top of the region is above the cursor is then a guess: that all of it was drawn
 * in the size of which was told, and stands in the size of which is told now. A frame that was drawn in between makes the
 * guess too high, and what is finished is overwritten. So while much is drawn the cursor waits at the top (`waitsAtTop`):
 * nearly all terminals keep it at the line where it stood, and there is nothing to be guessed. Within a frame it goes down
 * by line feeds, which go as far as they say also where a smaller screen ends before.
 *
 * Where the guess remains, it is rather too little than too much: what is left of an old frame is ugly, what is
 * overwritten is lost.
 */
export class LiveRegion {
  readonly #reflows: boolean;
  #lines: readonly string[] = [];
  #cursor = TOP;
  /** The terminal's when the region was drawn; nothing before. */
  #size: Size | undefined;

  /** `reflows`: the terminal breaks long lines anew when it becomes narrower, as nearly all do. */
  constructor(reflows = true) {
    this.#reflows = reflows;
  }

  /** The bytes that bring the screen from the frame before to this one; none when nothing changed. */
  draw(frame: Frame, size: Size): string {
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

  /** Takes the region away. The cursor stands where it began, at the beginning of a line. */
  erase(size: Size): string {
    const up = upBy(this.#rowsToTop(size));
    this.forget();
    return `${BEGIN}\r${up}${ERASE_BELOW}${SHOW_CURSOR}${END}`;
  }

  /** Forgets what was drawn: the next frame is drawn where the cursor stands. */
  forget(): void {
    this.#lines = [];
    this.#cursor = TOP;
    this.#size = undefined;
  }

  #rewrite(finished: readonly string[], lines: readonly string[], size: Size): Written {
    let bytes = `\r${upBy(this.#rowsToTop(size))}${ERASE_BELOW}`;
    for (const line of finished) bytes += `${closed(line)}\r\n`;
    bytes += WRAP_OFF + lines.map(closed).join("\r\n") + WRAP_ON;
    return { bytes, row: Math.max(0, lines.length - 1) };
  }

  #update(lines: readonly string[]): Written {
    const old = this.#lines;
    const common = Math.min(old.length, lines.length);
    let bytes = "";
    let row = this.#cursor.row;
    for (let index = 0; index < common; index++) {
      if (old[index] === lines[index]) continue;
      bytes += move(row, { row: index, column: 0 }) + ERASE_LINE + closed(lines[index] ?? "");
      row = index;
    }
    if (lines.length < old.length) {
      bytes += move(row, { row: common, column: 0 }) + ERASE_BELOW;
      row = common;
    }
    if (lines.length > old.length) {
      if (common > 0) bytes += `${move(row, { row: common - 1, column: 0 })}\r\n`;
      bytes += lines.slice(common).map(closed).join("\r\n");
      row = lines.length - 1;
    }
    return { bytes: bytes === "" ? "" : WRAP_OFF + bytes + WRAP_ON, row };
  }

  /** Rows from the cursor up to the top of the region, in a terminal of this size. */
  #rowsToTop({ columns }: Size): number {
    if (!this.#size || columns >= this.#size.columns || !this.#reflows) return this.#cursor.row;
    const above = this.#lines.slice(0, this.#cursor.row).map((line) => rowsOf(leastWidthOf(line), columns));
    return above.reduce((sum, count) => sum + count, 0) + Math.floor(this.#cursor.column / columns);
  }
}

/** Bytes, and the row of the region in which they leave the cursor. */
interface Written {
  readonly bytes: string;
  readonly row: number;
}

/**
 * Whether the cursor stays at the line where it stands when lines are broken anew. Terminals that are made with xterm.js
 * leave it in its row of the screen, while the lines below it go on.
 */
export function keepsCursorAtLine({ TERM_PROGRAM = "", TMUX, STY }: NodeJS.ProcessEnv): boolean {
  return TMUX !== undefined || STY !== undefined || !["vscode", "Hyper", "Tabby"].includes(TERM_PROGRAM);
}

/** Whether the terminal breaks lines anew when its width changes. Of these few it is known that they do not. */
export function breaksLinesAnew({ TERM = "", XTERM_VERSION, TMUX, STY }: NodeJS.ProcessEnv): boolean {
  if (TMUX) return true;
  return !(XTERM_VERSION || STY || TERM === "linux" || TERM.startsWith("rxvt"));
}

function rowsOf(width: number, columns: number): number {
  return Math.max(1, Math.ceil(width / columns));
}

/** From the row in which something was written to a place in the region. */
function move(row: number, to: Position): string {
  const vertical = to.row < row ? upBy(row - to.row) : "\n".repeat(to.row - row);
  return `\r${vertical}${to.column > 0 ? `\x1b[${to.column}C` : ""}`;
}

function upBy(rows: number): string {
  return rows > 0 ? `\x1b[${rows}A` : "";
}

function closed(line: string): string {
  return line.includes("\x1b[") ? line + RESET : line;
}
