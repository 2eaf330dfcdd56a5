import xterm from "@xterm/headless";

/** A terminal in memory that interprets output like a real one. */
export class TestScreen {
  readonly #terminal: InstanceType<typeof xterm.Terminal>;
  /** All bytes written. */
  raw = "";
  /** Called after output has been shown. */
  readonly #onShown = new Set<() => void>();
  /** The size that programs still believe in after a resize. */
  #told: { readonly columns: number; readonly rows: number } | undefined;

  constructor(columns = 80, rows = 24) {
    this.#terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 100_000, allowProposedApi: true });
  }

  /** The size as programs know it. */
  get size(): { readonly columns: number; readonly rows: number } {
    return this.#told ?? { columns: this.#terminal.cols, rows: this.#terminal.rows };
  }

  /** True if the screen or the scrollback was ever cleared (T20). */
  get wasCleared(): boolean {
    return ["\x1b[2J", "\x1b[3J", "\x1bc"].some((sequence) => this.raw.includes(sequence));
  }

  /** Writes bytes, and waits until they are shown. */
  async write(bytes: string): Promise<void> {
    this.raw += bytes;
    await new Promise<void>((resolve) => this.#terminal.write(bytes, resolve));
    for (const shown of this.#onShown) shown();
  }

  /** Waits until the rows of the screen match, and returns them. */
  async until(shown: string | RegExp): Promise<string> {
    const pattern = new RegExp(typeof shown === "string" ? RegExp.escape(shown) : shown, "m");
    for (;;) {
      const text = this.rows.join("\n");
      if (pattern.test(text)) return text;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#onShown.add(resolve);
      await promise;
      this.#onShown.delete(resolve);
    }
  }

  resize(columns: number, rows: number): void {
    this.#terminal.resize(columns, rows);
  }

  /**
   * Resizes like tmux and most terminals: the cursor stays on its line, and programs learn the size later, with
   * `tell`. xterm.js alone keeps the cursor in its row of the screen.
   */
  resizeUntold(columns: number, rows: number): void {
    this.#told = this.size;
    const line = this.#terminal.registerMarker(0);
    this.#terminal.resize(columns, rows);
    const row = Math.max(0, (line?.line ?? 0) - this.#terminal.buffer.active.baseY);
    line?.dispose();
    this.#terminal.write(`\x1b[${row + 1};${this.cursor.column + 1}H`);
  }

  /** Tells programs the present size. */
  tell(): void {
    this.#told = undefined;
  }

  /** All lines from the start of the scrollback; a line that the terminal wrapped counts as one. */
  get lines(): string[] {
    const { active } = this.#terminal.buffer;
    const lines: string[] = [];
    for (let row = 0; row < active.length; row++) {
      const line = active.getLine(row);
      const text = line?.translateToString(true) ?? "";
      if (line?.isWrapped && lines.length > 0) lines[lines.length - 1] += text;
      else lines.push(text);
    }
    while (lines.at(-1) === "") lines.pop();
    return lines;
  }

  /** The visible rows, from the top. */
  get rows(): string[] {
    const { active } = this.#terminal.buffer;
    return Array.from({ length: this.#terminal.rows }, (_, row) =>
      (active.getLine(active.baseY + row)?.translateToString(true) ?? "").trimEnd(),
    );
  }

  /** The cursor's place on the screen. */
  get cursor(): { readonly row: number; readonly column: number } {
    const { active } = this.#terminal.buffer;
    return { row: active.cursorY, column: active.cursorX };
  }
}
