import { ERASE_BELOW, type ScreenPosition, type ScreenSize } from "./live-region.ts";

const ENTER = "\x1b[?1049h";
const LEAVE = "\x1b[?1049l";
const BEGIN = "\x1b[?2026h\x1b[?25l\x1b[?7l";
const END = "\x1b[?7h\x1b[?2026l";

/**
 * Returns whether a terminal has an alternate screen. GNU screen needs `altscreen on` for it, and does not answer
 * queries. The Linux console supports it only in recent versions.
 */
function hasSecondScreen({ STY, TERM }: NodeJS.ProcessEnv): boolean {
  return !STY && TERM !== "linux";
}

/**
 * The alternate screen, for whole-screen views: the tree, long lists, a transcript. The main screen returns unchanged
 * afterwards. Without an alternate screen, the visible lines first move into the scrollback, and the screen is empty
 * afterwards. This class computes the bytes, and its owner writes them.
 */
export class AlternateScreen {
  readonly #isSecond: boolean;
  #rows: readonly string[] | undefined;
  #size: ScreenSize | undefined;
  #cursor: ScreenPosition | undefined;
  #resized = false;

  constructor(env: NodeJS.ProcessEnv = {}) {
    this.#isSecond = hasSecondScreen(env);
  }

  get isShown(): boolean {
    return this.#rows !== undefined;
  }

  /** Draws lines from the top; writes only changed rows. The cursor is left after the last line, above empty rows. */
  draw(lines: readonly string[], cursor: ScreenPosition | undefined, size: ScreenSize): string {
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
   * Returns to the main screen and the former cursor. After a resize that place is unknown, so the cursor goes below
   * everything. Without an alternate screen, it goes to the top of an empty screen.
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
