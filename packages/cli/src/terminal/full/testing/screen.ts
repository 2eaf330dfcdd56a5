import xterm from "@xterm/headless";

/** A terminal in memory, which understands what is written to it as a real one does. */
export class TestScreen {
  readonly #terminal: InstanceType<typeof xterm.Terminal>;
  /** Every byte that was written. */
  raw = "";
  /** Called when something has been shown. */
  readonly #onShown = new Set<() => void>();

  constructor(columns = 80, rows = 24) {
    this.#terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 100_000, allowProposedApi: true });
  }

  get size(): { readonly columns: number; readonly rows: number } {
    return { columns: this.#terminal.cols, rows: this.#terminal.rows };
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

  /** Waits until what is on the screen, row by row, matches; answers it. */
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
