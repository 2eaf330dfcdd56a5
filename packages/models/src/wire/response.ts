import type { ModelPart } from "@banyan/core";
import { type Endpoint, errorOfConnection, errorOfStatus, errorOfType, type ResponseHeaders } from "./errors.ts";
import { EventStreamDecoder } from "./event-stream.ts";
import type { ResponseReader } from "./transport.ts";

/** Decodes one answer of a wire format. `data` and `end` throw `ModelError`. */
export interface Answer {
  /** The data of one event, or the body of an answer that is no event stream. */
  data(text: string): void;
  /** The answer is over. Throws `broken-stream` when it cannot be whole. */
  end(): void;
  /** What was decoded since the last time. */
  take(): readonly ModelPart[];
  /** Nothing of interest follows. */
  readonly done: boolean;
  /** The connection may end now without harm. */
  readonly answered: boolean;
}

/** Bytes of an error body that are read. */
const ERROR_BODY = 65_536;

/** Reads a response by its head: an event stream, a whole answer in JSON, or an error. */
export class ResponseDecoder implements ResponseReader {
  readonly #endpoint: Endpoint;
  readonly #answer: Answer;
  #head: { readonly status: number; readonly headers: ResponseHeaders } | undefined;
  #events: EventStreamDecoder | undefined;
  /** The body so far, where it is not an event stream. */
  readonly #whole: Buffer[] = [];
  #size = 0;

  constructor(endpoint: Endpoint, answer: Answer) {
    this.#endpoint = endpoint;
    this.#answer = answer;
  }

  get done(): boolean {
    return this.#answer.done;
  }

  get answered(): boolean {
    return this.#answer.answered;
  }

  head(status: number, headers: ResponseHeaders): void {
    this.#head = { status, headers };
    if (status < 200 || status > 299) return;
    const type = String(headers["content-type"] ?? "");
    if (type.includes("json")) return;
    if (type.includes("html")) throw errorOfType(this.#endpoint, type);
    this.#events = new EventStreamDecoder((data) => this.#answer.data(data));
  }

  body(bytes: Buffer): void {
    if (this.#events) {
      this.#events.push(bytes);
      return;
    }
    if (this.#failed && this.#size > ERROR_BODY) return;
    this.#whole.push(bytes);
    this.#size += bytes.length;
  }

  end(): void {
    if (this.#events) {
      this.#events.end();
    } else {
      const text = Buffer.concat(this.#whole).toString();
      if (this.#head && this.#failed) throw errorOfStatus(this.#endpoint, this.#head.status, this.#head.headers, text);
      this.#answer.data(text);
    }
    this.#answer.end();
  }

  take(): readonly ModelPart[] {
    return this.#answer.take();
  }

  failed(cause: unknown, sent: boolean): Error {
    return errorOfConnection(this.#endpoint, cause, sent);
  }

  get #failed(): boolean {
    return this.#head !== undefined && (this.#head.status < 200 || this.#head.status > 299);
  }
}
