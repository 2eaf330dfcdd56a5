import type { ModelDriver, ModelPart, ModelSettings, Price } from "@banyan/core";
import type { Dispatcher } from "undici";
import { ChatAnswer } from "./answer.ts";
import { type Endpoint, errorOfConnection, errorOfStatus, errorOfType, type ResponseHeaders } from "./errors.ts";
import { EventStreamDecoder } from "./event-stream.ts";
import { encodeRequest, type RequestShape } from "./request.ts";
import { exchange, type ResponseReader } from "./transport.ts";

/** A model of a server that speaks the chat completions format. */
export interface OpenAIChatOptions {
  /** `provider/model`. `providerOptions` of a request are read under the name before the first slash. */
  readonly id: string;
  /** The model as the server calls it. */
  readonly model: string;
  /** The address before `/chat/completions`, for example `http://127.0.0.1:8080/v1`. */
  readonly baseURL: string;
  /** Sent as a bearer token. */
  readonly apiKey?: string;
  /** The environment variable that holds the key; errors name it. */
  readonly keyVariable?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The field for `maxTokens`; OpenAI's own reasoning models take only `max_completion_tokens`. Default `max_tokens`. */
  readonly maxTokensField?: "max_tokens" | "max_completion_tokens";
  readonly price?: Price;
  readonly contextSize?: number;
  /** What an agent's settings add to. */
  readonly settings?: ModelSettings;
  /** Sends the requests, for example through a proxy. Default: an agent of this driver that keeps connections open. */
  readonly dispatcher?: Dispatcher;
}

/** Milliseconds that an idle connection is kept, unless the server says less. */
const KEEP_ALIVE = 30_000;
/** Bytes of an error body that are read. */
const ERROR_BODY = 65_536;

/**
 * A driver for the chat completions format of OpenAI, which many servers speak.
 *
 * Nothing is loaded or opened before the first stream. It sets no time limit of its own: a model may think for long, and
 * whoever waits aborts. Throws `TypeError` when `baseURL` is not an address.
 */
export function openAIChat(options: OpenAIChatOptions): ModelDriver {
  const url = parseAddress(options.baseURL);
  const endpoint: Endpoint = {
    id: options.id,
    model: options.model,
    address: `${url.origin}${url.pathname.replace(/\/+$/, "")}`,
    keyVariable: options.keyVariable,
    secrets: [options.apiKey ?? "", ...Object.values(options.headers ?? {})].filter((text) => text.length >= 6),
  };
  const shape: RequestShape = {
    model: options.model,
    provider: options.id.split("/", 1)[0] ?? options.id,
    maxTokensField: options.maxTokensField ?? "max_tokens",
  };
  const target = {
    origin: url.origin,
    path: `${url.pathname.replace(/\/+$/, "")}/chat/completions${url.search}`,
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "text/event-stream",
      "user-agent": "banyan",
      ...(options.apiKey ? { authorization: `Bearer ${options.apiKey}` } : {}),
      ...options.headers,
    },
    headersTimeout: 0,
    bodyTimeout: 0,
  } as const;

  let dispatcher = options.dispatcher;
  let loading: Promise<Dispatcher> | undefined;
  // Without HTTP/2, which costs more for each piece of a stream and puts all streams behind one connection.
  const load = async (): Promise<Dispatcher> => {
    const { Agent } = await import("undici");
    dispatcher = new Agent({ keepAliveTimeout: KEEP_ALIVE, allowH2: false });
    return dispatcher;
  };

  return Object.freeze({
    id: options.id,
    family: "openai-chat",
    ...(options.price ? { price: options.price } : {}),
    ...(options.contextSize === undefined ? {} : { contextSize: options.contextSize }),
    ...(options.settings ? { settings: options.settings } : {}),
    async stream(request, sink, signal) {
      signal.throwIfAborted();
      // Before the first wait: the list of messages grows later.
      const body = encodeRequest(shape, request);
      loading ??= dispatcher ? Promise.resolve(dispatcher) : load();
      const via = dispatcher ?? (await loading);
      await exchange(via, { ...target, body }, new ChatReader(endpoint), sink, signal);
    },
  } satisfies ModelDriver);
}

function parseAddress(text: string): URL {
  const url = URL.parse(text);
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new TypeError(`"${text}" is not the address of a server. Write it like http://127.0.0.1:8080/v1.`);
}

/** Reads a response by its head: an event stream, a whole answer in JSON, or an error. */
class ChatReader implements ResponseReader {
  readonly #endpoint: Endpoint;
  readonly #answer: ChatAnswer;
  #head: { readonly status: number; readonly headers: ResponseHeaders } | undefined;
  #events: EventStreamDecoder | undefined;
  /** The body so far, where it is not an event stream. */
  readonly #whole: Buffer[] = [];
  #size = 0;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
    this.#answer = new ChatAnswer(endpoint);
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
