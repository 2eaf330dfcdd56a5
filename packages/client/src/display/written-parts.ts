/**
 * Counts the received characters of each message part, because the feed may repeat text.
 * @example
 * const written = new WrittenParts();
 * written.begin("m");
 * written.add("m", 0, "Hel", 0); // "Hel"
 * written.add("m", 0, "Hello", 0); // "lo", because the feed repeats text after a break
 */
export class WrittenParts {
  readonly #lengths = new Map<string, number[]>();

  begin(message: string): void {
    this.#lengths.set(message, []);
  }

  /** True if a message has begun and not ended. */
  has(message: string): boolean {
    return this.#lengths.has(message);
  }

  /** True if the reader has text of a message that has not ended. */
  hasText(message: string): boolean {
    return this.#lengths.get(message)?.some((length) => length > 0) ?? false;
  }

  /** Returns the new characters for the reader. `begins`: the offset of `text` in its part, if known. */
  add(message: string, part: number, text: string, begins: number | undefined): string {
    const lengths = this.#lengths.get(message) ?? [];
    this.#lengths.set(message, lengths);
    const length = lengths[part] ?? 0;
    const rest = begins === undefined ? text : text.slice(Math.max(0, length - begins));
    lengths[part] = length + rest.length;
    return rest;
  }

  end(message: string): void {
    this.#lengths.delete(message);
  }
}
