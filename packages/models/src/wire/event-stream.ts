import { parseJsonText } from "@banyan/core/shown";
import { openUtf8 } from "./bytes.ts";

/**
 * Decodes server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html) as their bytes arrive, in
 * linear time. Calls `onData` with the data of each complete event. Bytes can be cut anywhere. Ignores comments and the
 * fields `event`, `id` and `retry` (F71). Converts the field `error` of llama.cpp's server to an event `{"error": ...}`
 * (F55).
 */
export class EventStreamDecoder {
  readonly #bound: { readonly most: number; tooLong(): Error };
  readonly #onData: (data: string) => void;
  readonly #onError: (error: string) => void;
  readonly #utf8 = openUtf8();
  #line = "";
  #data: string | undefined;
  /** True if the last text ended with CR: a following LF belongs to it. */
  #afterReturn = false;
  #started = false;

  /** `bound`: maximum UTF-16 units of a line or an event's data. `onError` gets the field `error` as JSON. */
  constructor(
    onData: (data: string) => void,
    bound: { readonly most: number; tooLong(): Error } = { most: Number.POSITIVE_INFINITY, tooLong: () => new Error() },
    onError = onData,
  ) {
    this.#onData = onData;
    this.#onError = onError;
    this.#bound = bound;
  }

  /** Throws errors of `onData`, and for data that is too long; the decoder is unusable afterwards. */
  push(bytes: Uint8Array): void {
    this.#decode(this.#utf8.write(bytes));
  }

  /** An event without a final empty line counts too. */
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

  #take(text: string, start: number, end: number): void {
    if (start === end) {
      const data = this.#data;
      if (data === undefined) return;
      this.#data = undefined;
      this.#onData(data);
    } else if (text.startsWith("data:", start)) {
      this.#add(text.slice(text.charCodeAt(start + 5) === 0x20 ? start + 6 : start + 5, end));
    } else if (end - start === 4 || text.charCodeAt(start + 1) === 0x72) this.#takeRare(text.slice(start, end));
  }

  /** Takes `data` without a value, and `error:`, whose second letter no other field has. A separate function for speed. */
  #takeRare(line: string): void {
    if (line === "data") this.#add("");
    else if (line.startsWith("error:")) this.#onError(`{"error":${jsonOrString(line.slice("error:".length).trim())}}`);
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

/** Returns JSON unchanged, and other text as a JSON string. */
function jsonOrString(text: string): string {
  return parseJsonText(text) === undefined ? JSON.stringify(text) : text;
}
