import type { ModelDriver, ModelSettings } from "@banyan/core";
import type { OptionNames, Price } from "@banyan/core/conversation";
import type { ModelSink } from "@banyan/core/drivers";
import type { Dispatcher } from "undici";
import { ListBodies, type ListBody } from "./body.ts";
import { type WireBounds, wireBounds } from "./bounds.ts";
import type { Endpoint } from "./errors.ts";
import { openPool, type PoolOptions } from "./pool.ts";
import { type Answer, ResponseDecoder } from "./response.ts";
import { exchange } from "./transport.ts";

/**
 * A model at an address, whatever its wire format.
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
 * });
 */
export interface WireOptions extends PoolOptions {
  /** `provider/model`. */
  readonly id: string;
  /** The model as the server calls it. */
  readonly model: string;
  /** The address before the path of the format, for example `http://127.0.0.1:8080/v1`. */
  readonly baseURL: string;
  readonly apiKey?: string;
  /** The environment variable that holds the key; errors name it. */
  readonly keyVariable?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly price?: Price;
  readonly contextSize?: number;
  /** Media types of the files that it is shown with results of calls; none when empty, what its format has when absent. */
  readonly takes?: readonly string[] | undefined;
  /** What an agent's settings add to. */
  readonly settings?: ModelSettings;
  /** How much is read of an answer. */
  readonly bounds?: WireBounds;
}

export const WIRE_OPTIONS: OptionNames<WireOptions> = {
  id: true,
  model: true,
  baseURL: true,
  apiKey: true,
  keyVariable: true,
  headers: true,
  price: true,
  contextSize: true,
  takes: true,
  settings: true,
  bounds: true,
  proxy: true,
  dispatcher: true,
};

/** What of a wire format its requests share. */
interface WireFormat {
  readonly name: string;
  /** Where requests go, behind the base address. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Sends requests to one endpoint and decodes the answers.
 *
 * Nothing is loaded or opened before the first request. It sets no time limit of its own: a model may think for long,
 * and whoever waits aborts. The constructor throws `TypeError` when `baseURL` is not an address.
 */
export class WireClient {
  readonly endpoint: Endpoint;
  /** What a driver says of itself beside its format. */
  readonly facts: Pick<ModelDriver, "id" | "address" | "price" | "contextSize" | "settings">;
  readonly #target: Omit<Dispatcher.DispatchOptions, "body" | "headers">;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #proxy: PoolOptions["proxy"];
  readonly #bounds: ReturnType<typeof wireBounds>;
  readonly #bodies = new ListBodies();
  #pool: Dispatcher | undefined;
  #opening: Promise<Dispatcher> | undefined;

  constructor(options: WireOptions, format: WireFormat) {
    const url = parseAddress(options.baseURL);
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
      // Written otherwise, a header would be sent twice.
      ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
    };
    this.#pool = options.dispatcher;
    this.#proxy = options.proxy;
    this.#bounds = wireBounds(options.bounds);
  }

  /** Sends a request; keeps to the contract of `ModelDriver.stream`. */
  async send(
    body: ListBody,
    answer: Answer,
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

function parseAddress(text: string): URL {
  const url = URL.parse(text);
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new TypeError(`"${text}" is not the address of a server. Write it like http://127.0.0.1:8080/v1.`);
}
