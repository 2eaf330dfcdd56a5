/** Documents in a row that differ in more than one string, after which none of a series is expected to repeat. */
const PATIENCE = 8;

/**
 * Reads documents in JSON of which each repeats the one before in all but one string, as the events of an answer do:
 * what repeats is compared, and not parsed again.
 *
 * ```
 * learn ──▶ learnt ──▶ confirmed     a second document was parsed, and says in the same place what it was found to say
 * ```
 * A string that stands between the same characters is the same string of the same document: that one has been parsed, and
 * whoever reads gets what parsing this one would give.
 */
export class Repeated<Of> {
  /** What the string is part of. */
  of: Of | undefined;
  /** The document up to the string and from its end, quotes included. */
  #before = "";
  #after = "";
  /** The string that it had when it was learnt. */
  #first = "";
  #confirmed = false;
  #patience = PATIENCE;

  /** Whether documents are worth learning. */
  get learns(): boolean {
    return this.#patience > 0;
  }

  /** The string of a document that is known but for that; nothing when the document has to be parsed. */
  read(document: string): string | undefined {
    return this.#confirmed ? this.#between(document) : undefined;
  }

  /** Takes note of a document that was parsed, and of the only string in it that can change what it means. */
  learn(document: string, text: string, of: Of): void {
    if (this.#patience === 0 || text === "" || !isPlain(text)) return;
    if (text !== this.#first && this.#between(document) === text) {
      this.#confirmed = true;
      this.of = of;
      this.#patience = PATIENCE;
      return;
    }
    const at = document.indexOf(`"${text}"`) + 1;
    if (at === 0) return;
    this.#before = document.slice(0, at);
    this.#after = document.slice(at + text.length);
    this.#first = text;
    this.of = of;
    this.#confirmed = false;
    this.#patience--;
  }

  #between(document: string): string | undefined {
    const start = this.#before.length;
    const end = document.length - this.#after.length;
    // Slices are compared several characters at once; `startsWith` looks at one after the other.
    if (end < start || document.slice(0, start) !== this.#before || document.slice(end) !== this.#after) return;
    const text = document.slice(start, end);
    return isPlain(text) ? text : unescaped(text);
  }
}

/** The string that stands in JSON between quotes in this way; nothing if that is no string, or more than one. */
function unescaped(text: string): string | undefined {
  try {
    return JSON.parse(`"${text}"`);
  } catch {
    return undefined;
  }
}

/** Whether a string stands in JSON as it is. */
function isPlain(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x20 || unit === 0x22 || unit === 0x5c) return false;
  }
  return true;
}
