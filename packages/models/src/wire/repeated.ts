/** Documents that are parsed before one is learnt: the few of a short answer are parsed sooner than learnt. */
const SHORT = 12;

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
export class Repeated {
  /** What the string says, wherever it stands. */
  #say: (text: string) => void = () => {};
  /** The document up to the string and from its end, quotes included. */
  #before = "";
  #after = "";
  /** The string that it had when it was learnt. */
  #first = "";
  #confirmed = false;
  #patience = PATIENCE;
  #parsed = 0;

  /** Whether documents are worth learning. */
  get learns(): boolean {
    return this.#parsed > SHORT && this.#patience > 0;
  }

  /** Says what a document says that is known but for its string; returns whether it is one. Another has to be parsed. */
  read(document: string): boolean {
    const text = this.#confirmed ? this.#between(document) : undefined;
    if (text === undefined) {
      this.#parsed++;
      return false;
    }
    this.#say(text);
    return true;
  }

  /**
   * Takes note of a document that was parsed, of the only string in it that can change what it means, and of what is to be
   * done with such a string.
   */
  learn(document: string, text: string, say: (text: string) => void): void {
    if (this.#patience === 0 || text === "") return;
    if (text !== this.#first && this.#between(document) === text) {
      this.#confirmed = true;
      this.#say = say;
      this.#patience = PATIENCE;
      return;
    }
    const written = JSON.stringify(text);
    const at = document.indexOf(written) + 1;
    if (at === 0) return;
    this.#before = document.slice(0, at);
    this.#after = document.slice(at + written.length - 2);
    this.#first = text;
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
