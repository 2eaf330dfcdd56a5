import { isJsonRecord, parseJsonText } from "@banyan/core/shown";
import {
  AbstractMessageReader,
  type DataCallback,
  type Disposable,
  type Message,
} from "vscode-languageserver-protocol/node";

/** Maximum bytes of the header of a message, and of its content. */
const MOST_HEADER = 4_096;
const MOST_CONTENT = 16 * 1024 * 1024;
/** Maximum messages and bytes in each period of `time` milliseconds. */
const FLOOD = { messages: 20_000, bytes: 128 * 1024 * 1024, time: 10_000 };

const NOTHING: Buffer = Buffer.alloc(0);

/**
 * Reads the messages of a language server, and limits their size, unlike the package's own reader. Skips content that
 * is no JSON object. If output breaks the protocol or a limit, no later message can be trusted: calls `refuse` once
 * with the reason, and reads nothing more.
 */
export class BoundedReader extends AbstractMessageReader {
  readonly #refuse: (why: string) => void;
  #take: DataCallback | undefined;
  #header: Buffer = NOTHING;
  #content: { readonly pieces: Buffer[]; missing: number } | undefined;
  #period = { began: performance.now(), messages: 0, bytes: 0 };
  #isRefused = false;

  constructor(refuse: (why: string) => void) {
    super();
    this.#refuse = refuse;
  }

  listen(take: DataCallback): Disposable {
    this.#take = take;
    return {
      dispose: () => {
        this.#take = undefined;
      },
    };
  }

  push(bytes: Buffer): void {
    this.#count(0, bytes.length);
    for (let rest = bytes; rest.length > 0 && !this.#isRefused; )
      rest = this.#content ? this.#fill(rest) : this.#begin(rest);
  }

  /** Reads a header. Returns the bytes after the header. */
  #begin(bytes: Buffer): Buffer {
    const all = this.#header.length === 0 ? bytes : Buffer.concat([this.#header, bytes]);
    const end = all.indexOf("\r\n\r\n");
    if (end === -1 ? all.length > MOST_HEADER : end > MOST_HEADER) return this.#end("its output is not the protocol");
    if (end === -1) {
      this.#header = all;
      return NOTHING;
    }
    const length = /^Content-Length: *(\d{1,15})$/im.exec(all.toString("latin1", 0, end).replaceAll("\r", ""))?.[1];
    if (length === undefined) return this.#end("its output is not the protocol");
    if (Number(length) > MOST_CONTENT)
      return this.#end(`it sent a message of ${length} bytes, more than ${MOST_CONTENT}`);
    this.#header = NOTHING;
    this.#content = { pieces: [], missing: Number(length) };
    const rest = all.subarray(end + 4);
    return rest.length === 0 ? this.#fill(rest) : rest;
  }

  /** Reads content. Returns the bytes after the content. */
  #fill(bytes: Buffer): Buffer {
    const content = this.#content;
    if (!content) return bytes;
    const piece = bytes.subarray(0, content.missing);
    content.pieces.push(piece);
    content.missing -= piece.length;
    if (content.missing > 0) return NOTHING;
    this.#content = undefined;
    this.#count(1, 0);
    if (!this.#isRefused) this.#deliver(Buffer.concat(content.pieces).toString("utf8"));
    return bytes.subarray(piece.length);
  }

  #deliver(text: string): void {
    const message = parseJsonText(text);
    if (isJsonRecord(message)) this.#take?.(message as unknown as Message);
  }

  #count(messages: number, bytes: number): void {
    const now = performance.now();
    if (now - this.#period.began > FLOOD.time) this.#period = { began: now, messages: 0, bytes: 0 };
    this.#period.messages += messages;
    this.#period.bytes += bytes;
    if (this.#period.messages > FLOOD.messages || this.#period.bytes > FLOOD.bytes)
      this.#end("it sent more messages than can be read");
  }

  #end(why: string): Buffer {
    if (!this.#isRefused) {
      this.#isRefused = true;
      this.#refuse(why);
    }
    return NOTHING;
  }
}
