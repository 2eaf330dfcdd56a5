import { AlternateScreen } from "./alternate-screen.ts";
import { Frames } from "./frames.ts";
import {
  ERASE_BELOW,
  keepsCursorAtLine,
  LiveRegion,
  type RegionFrame,
  regionTerminal,
  type ScreenPosition,
  type ScreenSize,
  SETTLES_IN,
} from "./live-region.ts";

/** The content to draw: lines at the end of the transcript, or a whole screen. */
export type Picture = RegionFrame | { readonly full: readonly string[]; readonly cursor?: ScreenPosition | undefined };

/**
 * The output of the full terminal. Asks for a picture whenever it can draw one: at most 20 times per second, and only
 * after the terminal has accepted the previous picture.
 */
export class Screen {
  readonly #output: NodeJS.WriteStream;
  readonly #picture: (size: ScreenSize) => Picture;
  readonly #region: LiveRegion;
  readonly #alternate: AlternateScreen;
  readonly #frames = new Frames(() => this.#draw());
  readonly #keepsCursor: boolean;
  #open = false;
  #settling: NodeJS.Timeout | undefined;
  #animation: NodeJS.Timeout | undefined;

  constructor(output: NodeJS.WriteStream, env: NodeJS.ProcessEnv, picture: (size: ScreenSize) => Picture) {
    this.#output = output;
    this.#picture = picture;
    this.#alternate = new AlternateScreen(env);
    this.#region = new LiveRegion(regionTerminal(env));
    this.#keepsCursor = keepsCursorAtLine(env);
  }

  /**
   * Returns whether the cursor should wait where a resize cannot move it (T61). It should while frames come by
   * themselves (`isMuchDrawn`), because a frame may precede the news of a resize, and until a new size has settled.
   */
  cursorWaits(isMuchDrawn: boolean): boolean {
    return this.#keepsCursor && (isMuchDrawn || this.#settling !== undefined);
  }

  get size(): ScreenSize {
    // The stream's own values change only with the resize event.
    const [columns, rows] = this.#output.getWindowSize?.() ?? [this.#output.columns, this.#output.rows];
    return { columns: columns || 80, rows: rows || 24 };
  }

  /** Begins below the existing lines, also if the last one is incomplete. */
  open(): void {
    this.#open = true;
    this.#output.on("resize", this.#resized);
    this.#output.on("drain", this.#drained);
    this.#output.write(`${" ".repeat(this.size.columns - 1)}\r${ERASE_BELOW}`);
    this.#frames.release();
    // Show the first frame before modules load and block.
    this.#frames.flush();
  }

  changed(): void {
    if (this.#open) this.#frames.request();
  }

  /** Redraws every so many milliseconds; `undefined` stops that. A running animation keeps its time. */
  animate(every: number | undefined): void {
    if (every !== undefined) this.#animation ??= setInterval(() => this.changed(), every);
    else {
      clearInterval(this.#animation);
      this.#animation = undefined;
    }
  }

  flush(): void {
    if (this.#open) this.#frames.flush();
  }

  /** Writes finished lines, erases the live region and releases the screen until `open`. */
  close(): void {
    if (!this.#open) return;
    if (this.#alternate.isShown) this.#output.write(this.#alternate.leave());
    const picture = this.#picture(this.size);
    if ("finished" in picture && picture.finished.length > 0)
      this.#output.write(this.#region.draw({ finished: picture.finished, lines: [] }, this.size));
    this.#output.write(this.#region.erase(this.size));
    this.#open = false;
    this.#frames.hold();
    this.#settled();
    this.#output.off("resize", this.#resized);
    this.#output.off("drain", this.#drained);
  }

  /** Moves everything into the scrollback, and draws at the top of an empty screen. Deletes nothing. */
  redraw(): void {
    if (!this.#open) return;
    if (this.#alternate.isShown) this.#output.write(this.#alternate.leave());
    const { rows } = this.size;
    this.#output.write(`${this.#region.erase(this.size)}\x1b[${rows}B${"\r\n".repeat(rows)}\x1b[H`);
    this.#region.forget();
    this.flush();
  }

  readonly #resized = (): void => {
    this.#settled();
    this.#settling = setTimeout(() => {
      this.#settled();
      this.#frames.request();
    }, SETTLES_IN);
    this.#frames.request();
  };
  readonly #drained = (): void => this.#frames.release();

  #settled(): void {
    clearTimeout(this.#settling);
    this.#settling = undefined;
  }

  #draw(): void {
    const { size } = this;
    const picture = this.#picture(size);
    let bytes: string;
    if ("full" in picture) {
      const begin = this.#alternate.isShown ? "" : this.#region.erase(size);
      bytes = begin + this.#alternate.draw(picture.full, picture.cursor, size);
    } else {
      const begin = this.#alternate.isShown ? this.#alternate.leave() : "";
      bytes = begin + this.#region.draw(picture, size);
    }
    if (bytes !== "" && !this.#output.write(bytes)) this.#frames.hold();
  }
}
