import xterm from "@xterm/headless";

/** A terminal in memory, which understands what is written to it as a real one does. */
export class TestScreen {
  readonly #terminal: InstanceType<typeof xterm.Terminal>;
  /** Every byte that was written. */
  raw = "";
  /** Called when something has been shown. */
  readonly #onShown = new Set<() => void>();
  /** What a program is told that the size is, where that is not so any more. */
  #told: { readonly columns: number; readonly rows: number } | undefined;

  constructor(columns = 80, rows = 24) {
    this.#terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 100_000, allowProposedApi: true });
  }

  /** As a program is told. */
  get size(): { readonly columns: number; readonly rows: number } {
    return this.#told ?? { columns: this.#terminal.cols, rows: this.#terminal.rows };
  }

  /** Whether the screen or the scrollback was ever cleared (T20). */
  get wasCleared(): boolean {
    return ["\x1b[2J", "\x1b[3J", "\x1bc"].some((sequence) => this.raw.includes(sequence));
  }

  /** Shows bytes, and waits until they are shown. */
  async write(bytes: string): Promise<void> {
    this.raw += bytes;
    await new Promise<void>((resolve) => this.#terminal.write(bytes, resolve));
    for (const shown of this.#onShown) shown();
  }

  /** Waits until what is on the screen, row by row, matches; returns it. */
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
   * Changes the size as tmux and most terminals do: the cursor stays at the line where it stood, and programs are told
   * later, by `tell`. xterm.js by itself leaves the cursor in its row of the screen.
   */
  resizeUntold(columns: number, rows: number): void {
    this.#told = this.size;
    const line = this.#terminal.registerMarker(0);
    this.#terminal.resize(columns, rows);
    const row = Math.max(0, (line?.line ?? 0) - this.#terminal.buffer.active.baseY);
    line?.dispose();
    this.#terminal.write(`\x1b[${row + 1};${this.cursor.column + 1}H`);
  }

  /** Programs are told of the size as it is. */
  tell(): void {
    this.#told = undefined;
  }

  /** Everything from the first line of the scrollback on; a line that the terminal broke is one. */
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

  /** The rows that are on the screen now, from its top. */
  get rows(): string[] {
    const { active } = this.#terminal.buffer;
    return Array.from({ length: this.#terminal.rows }, (_, row) =>
      (active.getLine(active.baseY + row)?.translateToString(true) ?? "").trimEnd(),
    );
  }

  /** Where the cursor stands on the screen. */
  get cursor(): { readonly row: number; readonly column: number } {
    const { active } = this.#terminal.buffer;
    return { row: active.cursorY, column: active.cursorX };
  }
}
