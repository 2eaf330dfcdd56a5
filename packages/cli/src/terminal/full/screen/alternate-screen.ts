import { ERASE_BELOW, type Position, type Size } from "./live-region.ts";

const ENTER = "\x1b[?1049h";
const LEAVE = "\x1b[?1049l";
const BEGIN = "\x1b[?2026h\x1b[?25l\x1b[?7l";
const END = "\x1b[?7h\x1b[?2026l";

/**
 * Whether a terminal has a second screen. GNU screen has one only where its settings say so (`altscreen on`), and answers no
 * question about it; the Linux console has learnt it late.
 */
function hasSecondScreen({ STY, TERM }: NodeJS.ProcessEnv): boolean {
  return !STY && TERM !== "linux";
}

/**
 * The terminal's second screen, for what takes all of it: the tree, long lists, a transcript. The first one stays as it
 * is and comes back afterwards. Where there is none, what stands on the screen moves into the scrollback before, so that nothing
 * of it is lost, and the screen is empty afterwards. Works out the bytes; its owner writes them.
 */
export class AlternateScreen {
  readonly #isSecond: boolean;
  #rows: readonly string[] | undefined;
  #size: Size | undefined;
  #cursor: Position | undefined;
  #resized = false;

  constructor(env: NodeJS.ProcessEnv = {}) {
    this.#isSecond = hasSecondScreen(env);
  }

  /** Whether it is shown. */
  get isShown(): boolean {
    return this.#rows !== undefined;
  }

  /**
   * Shows these lines from the top; only rows that changed are written. The cursor stands behind all that is to stay, with nothing
   * below it.
   */
  draw(lines: readonly string[], cursor: Position | undefined, size: Size): string {
    const resized = this.#size !== undefined && (size.columns !== this.#size.columns || size.rows !== this.#size.rows);
    this.#resized ||= resized;
    const old = resized ? undefined : this.#rows;
    const rows = Array.from({ length: size.rows }, (_, row) => lines[row] ?? "");
    let bytes = this.#rows !== undefined ? "" : this.#isSecond ? ENTER : "\r\n".repeat(size.rows - 1);
    for (const [row, line] of rows.entries())
      if (old?.[row] !== line) bytes += `\x1b[${row + 1};1H\x1b[2K${line}${line.includes("\x1b[") ? "\x1b[0m" : ""}`;
    const still = bytes === "" && cursor?.row === this.#cursor?.row && cursor?.column === this.#cursor?.column;
    this.#rows = rows;
    this.#size = size;
    this.#cursor = cursor;
    if (still) return "";
    const shown = cursor ? `\x1b[${cursor.row + 1};${cursor.column + 1}H\x1b[?25h` : "";
    return BEGIN + bytes + shown + END;
  }

  /**
   * Goes back to the first screen. The cursor is where it was before; after a change of size nobody knows where that is,
   * so it goes below everything. Without a second screen, it is at the top of an empty one.
   */
  leave(): string {
    const bytes = !this.#isSecond
      ? `\x1b[H${ERASE_BELOW}`
      : this.#resized
        ? `${LEAVE}\x1b[${this.#size?.rows ?? 1}B\r\n`
        : LEAVE;
    this.#rows = undefined;
    this.#size = undefined;
    this.#cursor = undefined;
    this.#resized = false;
    return bytes;
  }
}
