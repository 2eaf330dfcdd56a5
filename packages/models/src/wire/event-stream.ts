import { StringDecoder } from "node:string_decoder";

/**
 * Decodes server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html) as their bytes arrive.
 *
 * Hands the data of each event to `onData`, within the `push` that completed it. Bytes may be cut anywhere: inside a
 * character, between CR and LF, inside a line. Lines end with LF, CRLF or CR. Comments and the fields `event`, `id` and
 * `retry` are passed over (F71). The field `error` of llama.cpp's server is handed over as an event `{"error": ...}` (F55).
 * The work is linear in the bytes, however they are cut.
 */
export class EventStreamDecoder {
  readonly #bound: { readonly most: number; tooLong(): Error };
  readonly #onData: (data: string) => void;
  readonly #onError: (error: string) => void;
  readonly #utf8 = new StringDecoder("utf8");
  /** The beginning of a line whose end has not arrived. */
  #line = "";
  /** The data of the event that is open. */
  #data: string | undefined;
  /** The text so far ended with CR: a LF that comes next belongs to it. */
  #afterReturn = false;
  #started = false;

  /**
   * @param bound How many UTF-16 units a line, or the data of an event, may have, and what is thrown for more.
   * @param onError Gets the field `error` as data, `{"error": ...}`.
   */
  constructor(
    onData: (data: string) => void,
    bound: { readonly most: number; tooLong(): Error } = { most: Number.POSITIVE_INFINITY, tooLong: () => new Error() },
    onError = onData,
  ) {
    this.#onData = onData;
    this.#onError = onError;
    this.#bound = bound;
  }

  /** Throws only what `onData` throws, and what is too long; the decoder is of no use after that. */
  push(bytes: Buffer): void {
    this.#decode(this.#utf8.write(bytes));
  }

  /** The stream is over: an event that was not closed by an empty line counts too. */
  end(): void {
    this.#decode(`${this.#utf8.end()}\n\n`);
  }

  #decode(read: string): void {
    if (read === "") return;
    let text = read;
    if (!this.#started) {
      this.#started = true;
      if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
    }
    if (this.#afterReturn) {
      this.#afterReturn = false;
      if (text.startsWith("\n")) text = text.slice(1);
    }
    if (text.includes("\r")) {
      this.#afterReturn = text.endsWith("\r");
      text = text.replace(/\r\n?/g, "\n");
    }

    let start = 0;
    let end = text.indexOf("\n");
    if (this.#line !== "" && end !== -1) {
      const line = this.#line + text.slice(0, end);
      this.#line = "";
      this.#take(line, 0, line.length);
      start = end + 1;
      end = text.indexOf("\n", start);
    }
    while (end !== -1) {
      this.#take(text, start, end);
      start = end + 1;
      end = text.indexOf("\n", start);
    }
    if (start < text.length) {
      this.#line += text.slice(start);
      if (this.#line.length > this.#bound.most) throw this.#bound.tooLong();
    }
  }

  /** A line of the text, without its end. */
  #take(text: string, start: number, end: number): void {
    if (start === end) {
      const data = this.#data;
      if (data === undefined) return;
      this.#data = undefined;
      this.#onData(data);
    } else if (text.startsWith("data:", start)) {
      this.#add(text.slice(text.charCodeAt(start + 5) === 0x20 ? start + 6 : start + 5, end));
    } else this.#takeRare(text.slice(start, end));
  }

  /** Apart from the others, so that the engine inlines those. */
  #takeRare(line: string): void {
    if (line === "data") this.#add("");
    else if (line.startsWith("error:")) this.#onError(`{"error":${asJson(line.slice("error:".length).trim())}}`);
  }

  #add(value: string): void {
    if (this.#data === undefined) {
      this.#data = value;
      return;
    }
    this.#data = `${this.#data}\n${value}`;
    if (this.#data.length > this.#bound.most) throw this.#bound.tooLong();
  }
}

/** A text that is JSON as it is, another as a JSON string. */
function asJson(text: string): string {
  try {
    JSON.parse(text);
    return text;
  } catch {
    // Words.
    return JSON.stringify(text);
  }
}
