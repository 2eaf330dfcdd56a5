/**
 * Counts the characters of each part of the messages that a reader has received. After a broken connection or at the end of a
 * message, the feed repeats text; the reader gets only the rest.
 */
export class WrittenParts {
  readonly #lengths = new Map<string, number[]>();

  /** A message begins, of which the reader has nothing. */
  begin(message: string): void {
    this.#lengths.set(message, []);
  }

  /** Whether a message has begun and has not ended. */
  has(message: string): boolean {
    return this.#lengths.has(message);
  }

  /** Whether the reader has text of a message that has not ended. */
  hasText(message: string): boolean {
    return this.#lengths.get(message)?.some((length) => length > 0) ?? false;
  }

  /** Returns the characters that are new to the reader. `begins` is the offset of `text` in its part, where it is known. */
  add(message: string, part: number, text: string, begins: number | undefined): string {
    const lengths = this.#lengths.get(message) ?? [];
    this.#lengths.set(message, lengths);
    const length = lengths[part] ?? 0;
    const rest = begins === undefined ? text : text.slice(Math.max(0, length - begins));
    lengths[part] = length + rest.length;
    return rest;
  }

  /** A message is complete or discarded. */
  end(message: string): void {
    this.#lengths.delete(message);
  }
}
