/** Texts typed at prompts, newest first, without duplicates. */
export class History {
  readonly #lines: string[] = [];

  constructor(lines: readonly string[] = []) {
    for (const line of lines.toReversed()) this.add(line);
  }

  add(line: string): void {
    if (line.trim() === "") return;
    const known = this.#lines.indexOf(line);
    if (known >= 0) this.#lines.splice(known, 1);
    this.#lines.unshift(line);
    this.#lines.length = Math.min(this.#lines.length, KEPT);
  }

  get lines(): readonly string[] {
    return this.#lines;
  }
}

const KEPT = 500;
