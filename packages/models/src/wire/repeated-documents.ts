import { parseJsonText } from "@banyan/core/shown";

/** Number of documents that are parsed before learning: for a short answer, learning costs more than parsing. */
const SHORT = 12;

/** Number of documents in a row that differ in several strings, before learning stops. */
const PATIENCE = 8;

/**
 * Reads JSON documents that mostly differ in one string, such as the events of an answer, without parsing the repeated
 * part. Remembers a parsed document. If the next document differs only in that string, `read` returns that string as a
 * parser would.
 */
export class RepeatedDocuments {
  #say: (text: string) => void = () => {};
  /** The document before and after the string, with quotes. */
  #before = "";
  #after = "";
  #first = "";
  #confirmed = false;
  #patience = PATIENCE;
  #parsed = 0;

  get learns(): boolean {
    return this.#parsed > SHORT && this.#patience > 0;
  }

  /** Passes on the string of a document in the known form. Returns false for documents that the caller must parse. */
  read(document: string): boolean {
    const text = this.#confirmed ? this.#between(document) : undefined;
    if (text === undefined) {
      this.#parsed++;
      return false;
    }
    this.#say(text);
    return true;
  }

  /** `text`: the only string that can change the document's meaning. `say` gets this string of later documents. */
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
    // Slices compare faster than `startsWith`, which compares character by character.
    if (end < start || document.slice(0, start) !== this.#before || document.slice(end) !== this.#after) return;
    const text = document.slice(start, end);
    return isPlainInJson(text) ? text : parseString(text);
  }
}

/** Unescapes the JSON string between two quotes; undefined if the text is no string or several. */
function parseString(text: string): string | undefined {
  return parseJsonText(`"${text}"`) as string | undefined;
}

function isPlainInJson(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x20 || unit === 0x22 || unit === 0x5c) return false;
  }
  return true;
}
