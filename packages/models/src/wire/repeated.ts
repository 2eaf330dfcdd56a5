/** Documents in a row that differ in more than one string, after which none of a series is expected to repeat. */
const PATIENCE = 8;

/**
 * Reads documents in JSON of which each repeats the one before in all but one string, as the events of an answer do:
 * what repeats is compared, and not parsed again.
 *
 * ```
 * learn ──▶ learnt ──▶ confirmed     a second document was parsed, and says in the same place what it was found to say
 * ```
 * A string without escapes that stands between the same characters is the same string of the same document: that one has
 * been parsed, and whoever reads gets what parsing this one would give.
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
    const end = document.length - this.#after.length;
    if (end < this.#before.length || !document.startsWith(this.#before) || !document.endsWith(this.#after)) return;
    const text = document.slice(this.#before.length, end);
    return isPlain(text) ? text : undefined;
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
