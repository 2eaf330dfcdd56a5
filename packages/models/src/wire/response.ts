import type { ModelPart } from "@banyan/core/drivers";
import { STREAM_FACTOR, type WireBounds, wireBounds } from "./bounds.ts";
import { joinBytes, openUtf8 } from "./bytes.ts";
import {
  type Endpoint,
  errorOfCoding,
  errorOfConnection,
  errorOfLine,
  errorOfRedirect,
  errorOfSize,
  errorOfStatus,
  errorOfType,
  type ResponseHeaders,
} from "./errors.ts";
import { EventStreamDecoder } from "./event-stream.ts";
import type { ResponseReader } from "./transport.ts";
import { canUnpack, codingsOf } from "./unpacker.ts";

/** Decodes one answer of a wire format. `data` and `end` throw `ModelError`. */
export interface AnswerDecoder {
  /** Accepts the data of one event, or the body of an answer that does not stream. */
  data(text: string): void;
  /** Throws `broken-stream` if the answer is incomplete. */
  end(): void;
  /** Returns the parts decoded since the last `take`. */
  take(): readonly ModelPart[];
  readonly done: boolean;
  /** True if the connection can end without loss of data. */
  readonly answered: boolean;
}

/** Maximum bytes that are read of an error body. */
const ERROR_BODY = 65_536;

class LineDecoder {
  readonly #onLine: (line: string) => void;
  readonly #bound: { readonly most: number; tooLong(): Error };
  readonly #utf8 = openUtf8();
  #rest = "";

  constructor(onLine: (line: string) => void, bound: { readonly most: number; tooLong(): Error }) {
    this.#onLine = onLine;
    this.#bound = bound;
  }

  push(bytes: Uint8Array): void {
    const lines = (this.#rest + this.#utf8.write(bytes)).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#onLine(line);
    if (this.#rest.length > this.#bound.most) throw this.#bound.tooLong();
  }

  end(): void {
    this.#onLine(this.#rest + this.#utf8.end());
  }
}

/** Reads a response as an event stream, lines of JSON, a JSON answer or an error, by its status and content type. */
export class ResponseDecoder implements ResponseReader {
  readonly #endpoint: Endpoint;
  readonly #answer: AnswerDecoder;
  #head: { readonly status: number; readonly headers: ResponseHeaders } | undefined;
  #events: EventStreamDecoder | LineDecoder | undefined;
  readonly #whole: Uint8Array[] = [];
  #failed = false;
  #size = 0;
  readonly #bounds: ReturnType<typeof wireBounds>;
  #most: number;
  codings: readonly string[] = [];

  constructor(endpoint: Endpoint, answer: AnswerDecoder, bounds?: WireBounds) {
    this.#endpoint = endpoint;
    this.#answer = answer;
    this.#bounds = wireBounds(bounds);
    this.#most = this.#bounds.answer;
  }

  get done(): boolean {
    return this.#failed ? this.#size > ERROR_BODY : this.#answer.done;
  }

  get answered(): boolean {
    return this.#failed || this.#answer.answered;
  }

  head(status: number, headers: ResponseHeaders): void {
    this.#head = { status, headers };
    this.#failed = status < 200 || status > 299;
    const codings = codingsOf(headers["content-encoding"]);
    if (canUnpack(codings)) this.codings = codings;
    else if (!this.#failed) throw errorOfCoding(this.#endpoint.address, codings);
    const location = headers.location;
    if (status > 299 && status < 400 && location) {
      throw errorOfRedirect(this.#endpoint.address, status, String(location));
    }
    if (this.#failed) return;
    const type = String(headers["content-type"] ?? "");
    const isLines = /ndjson|json-?l/.test(type);
    if (type.includes("json") && !isLines) return;
    if (type.includes("html")) throw errorOfType(this.#endpoint, type);
    const { line, answer } = this.#bounds;
    this.#most = answer * STREAM_FACTOR;
    const tooLong = () => errorOfLine(this.#endpoint.address, line);
    const Decoder = isLines ? LineDecoder : EventStreamDecoder;
    this.#events = new Decoder((data) => this.#answer.data(data), { most: line, tooLong });
  }

  body(bytes: Uint8Array): void {
    this.#size += bytes.length;
    if (this.#size > this.#most) throw errorOfSize(this.#endpoint.address, this.#most);
    if (this.#events) {
      this.#events.push(bytes);
      return;
    }
    if (!this.#failed || this.#size <= ERROR_BODY + bytes.length) this.#whole.push(bytes);
  }

  end(): void {
    if (this.#events) {
      this.#events.end();
    } else {
      const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(joinBytes(this.#whole));
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
}
