import type { ModelDriver, ModelSettings } from "@banyan/core";
import { OptionError, type OptionNames, type Price } from "@banyan/core/conversation";
import type { ModelSink } from "@banyan/core/drivers";
import type { Dispatcher } from "undici";
import { ListBodies, type ListBody } from "./body.ts";
import { type WireBounds, wireBounds } from "./bounds.ts";
import type { Endpoint } from "./errors.ts";
import { checkObjectOptions } from "./options.ts";
import { type Requests, throughFetch } from "./own-fetch.ts";
import { checkFetch, openPool, type PoolOptions } from "./pool.ts";
import { type AnswerDecoder, ResponseDecoder } from "./response.ts";
import { exchange } from "./transport.ts";

/**
 * Options of a model at an address, for any wire format.
 * @example
 * anthropicMessages({
 *   id: "gateway/claude",
 *   model: "claude-sonnet",
 *   baseURL: "https://gateway.example.org/v1",
 *   apiKey: process.env.GATEWAY_KEY ?? "",
 *   keyVariable: "GATEWAY_KEY",
 *   headers: { "x-team": "forest" },
 *   price: { input: 3, output: 15, cached: 0.3 },
 *   contextSize: 200_000,
 *   takes: ["image/png", "image/jpeg"],
 *   settings: { maxTokens: 8_000 },
 *   bounds: { answer: 8 * 1024 * 1024 },
 *   fetch: (address, init) => fetch(address, { ...init, keepalive: true }),
 * });
 */
export interface WireOptions extends PoolOptions {
  /** `provider/model`. */
  readonly id: string;
  /** The server's name of the model. */
  readonly model: string;
  /** The address before the path of the format, for example `http://127.0.0.1:8080/v1`. */
  readonly baseURL: string;
  readonly apiKey?: string;
  /** The environment variable of the key, for error messages. */
  readonly keyVariable?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly price?: Price;
  readonly contextSize?: number;
  /** Media types of files that the model accepts in tool results. Empty: none. Absent: the format's default. */
  readonly takes?: readonly string[] | undefined;
  /** Default settings, which an agent's settings override. */
  readonly settings?: ModelSettings;
  /** Limits of reading an answer. */
  readonly bounds?: WireBounds;
}

export const WIRE_OPTIONS: OptionNames<WireOptions> = {
  id: "string!",
  model: "string!",
  baseURL: true,
  apiKey: "string",
  keyVariable: "string",
  headers: "object",
  price: "object",
  contextSize: "number",
  takes: true,
  settings: "object",
  bounds: "object",
  proxy: true,
  dispatcher: true,
  fetch: true,
};

interface WireFormat {
  readonly name: string;
  /** The path after the base address. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Sends requests to one endpoint and decodes the answers. Loads and opens nothing before the first request. Has no
 * timeout, since a model may think for long: the caller must abort. The constructor throws `OptionError` for a value
 * of the wrong type, and if `baseURL` is not an address.
 */
export class WireClient {
  readonly endpoint: Endpoint;
  readonly facts: Pick<ModelDriver, "id" | "address" | "price" | "contextSize" | "settings">;
  readonly #target: Omit<Dispatcher.DispatchOptions, "body" | "headers">;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #proxy: PoolOptions["proxy"];
  readonly #bounds: ReturnType<typeof wireBounds>;
  readonly #bodies = new ListBodies();
  #pool: Requests | undefined;
  #opening: Promise<Requests> | undefined;

  constructor(options: WireOptions, format: WireFormat) {
    checkFetch(`the model ${options.id}`, options);
    checkObjectOptions(`the model ${options.id}`, options);
    const url = parseEndpoint(options.baseURL);
    const base = url.pathname.replace(/\/+$/, "");
    const { id, model, apiKey = "", headers = {}, price, contextSize, settings } = options;
    this.endpoint = {
      id,
      model,
      format: format.name,
      address: `${url.origin}${base}`,
      keyVariable: options.keyVariable,
      secrets: [apiKey, ...Object.values(headers)].filter((text) => text.length >= 6),
    };
    this.facts = {
      id,
      address: this.endpoint.address,
      ...(price ? { price } : {}),
      ...(contextSize === undefined ? {} : { contextSize }),
      ...(settings ? { settings } : {}),
    };
    this.#target = {
      origin: url.origin,
      path: `${base}${format.path}${url.search}`,
      method: "POST",
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    this.#headers = {
      "content-type": "application/json",
      accept: "text/event-stream",
      "user-agent": "banyan",
      ...format.headers,
      // Lower case, so that no header is sent twice.
      ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
    };
    this.#pool = options.fetch ? throughFetch(options.fetch) : options.dispatcher;
    this.#proxy = options.proxy;
    this.#bounds = wireBounds(options.bounds);
  }

  /** Follows the contract of `ModelDriver.stream`. */
  async send(
    body: ListBody,
    answer: AnswerDecoder,
    sink: ModelSink,
    signal: AbortSignal,
    headers?: Readonly<Record<string, string>>,
  ): Promise<void> {
    if (!this.#pool) {
      this.#opening ??= openPool(this.#proxy);
      this.#pool = await this.#opening;
    }
    const pool = this.#pool;
    const sent = headers ? { ...this.#headers, ...headers } : this.#headers;
    const response = new ResponseDecoder(this.endpoint, answer, this.#bounds);
    await this.#bodies.send(body, (bytes) =>
      exchange(pool, { ...this.#target, headers: sent, body: bytes }, response, sink, signal, this.#bounds.linger),
    );
  }
}

function parseEndpoint(text: string): URL {
  const url = URL.parse(text);
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new OptionError(`baseURL "${text}" is not the address of a server. Write it like http://127.0.0.1:8080/v1.`);
}
