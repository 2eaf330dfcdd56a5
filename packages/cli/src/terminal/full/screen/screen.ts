import { AlternateScreen } from "./alternate-screen.ts";
import { Frames } from "./frames.ts";
import {
  breaksLinesAnew,
  ERASE_BELOW,
  type Frame,
  keepsCursorAtLine,
  LiveRegion,
  type Position,
  type Size,
} from "./live-region.ts";

/** What is to be seen: lines at the end of the transcript, or something that takes the whole screen. */
export type Picture = Frame | { readonly full: readonly string[]; readonly cursor?: Position | undefined };

/** Milliseconds after which a size that has changed is taken for the one that stays; tmux tells of the next within 250. */
const SETTLES_IN = 500;

/**
 * The writing half of the full terminal. It asks for a picture when one may be drawn: at most 20 times a second, and not
 * before the terminal has taken the one before.
 */
export class Screen {
  readonly #output: NodeJS.WriteStream;
  readonly #picture: (size: Size) => Picture;
  readonly #region: LiveRegion;
  readonly #alternate: AlternateScreen;
  readonly #frames = new Frames(() => this.#draw());
  readonly #keepsCursor: boolean;
  #open = false;
  #settling: NodeJS.Timeout | undefined;

  constructor(output: NodeJS.WriteStream, env: NodeJS.ProcessEnv, picture: (size: Size) => Picture) {
    this.#output = output;
    this.#picture = picture;
    this.#alternate = new AlternateScreen(env);
    this.#region = new LiveRegion(breaksLinesAnew(env));
    this.#keepsCursor = keepsCursorAtLine(env);
  }

  /**
   * Whether the cursor should wait where a change of size cannot move it (T61). `isMuchDrawn`: frames come by themselves,
   * so that one may be drawn before anybody is told of a new size. It should also until a new size has settled.
   */
  cursorWaits(isMuchDrawn: boolean): boolean {
    return this.#keepsCursor && (isMuchDrawn || this.#settling !== undefined);
  }

  /** As it is now. */
  get size(): Size {
    // The stream's own numbers change only when the news of a change has come.
    const [columns, rows] = this.#output.getWindowSize?.() ?? [this.#output.columns, this.#output.rows];
    return { columns: columns || 80, rows: rows || 24 };
  }

  /** Begins below what is there, also when that does not end with a line end. */
  open(): void {
    this.#open = true;
    this.#output.on("resize", this.#resized);
    this.#output.on("drain", this.#drained);
    this.#output.write(`${" ".repeat(this.size.columns - 1)}\r${ERASE_BELOW}`);
    this.#frames.release();
    // Whatever is loaded next must not keep the first picture from being seen.
    this.#frames.flush();
  }

  /** Something to be seen has changed. */
  changed(): void {
    if (this.#open) this.#frames.request();
  }

  /** Draws what has changed without waiting. */
  flush(): void {
    if (this.#open) this.#frames.flush();
  }

  /** Takes the live region away and gives the screen to somebody else, until `open`. What is finished is written first. */
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

  /** Moves everything into the scrollback and draws at the top of an empty screen. Deletes nothing. */
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
