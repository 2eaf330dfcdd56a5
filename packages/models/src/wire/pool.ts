import { OptionError } from "@banyan/core/conversation";
import type { Agent, Dispatcher } from "undici";
import { type Requests, throughFetch } from "./own-fetch.ts";

/** Addresses of HTTP proxies. Requests to this machine use no proxy. See {@link WireOptions}. */
export interface ProxyAddresses {
  /** The proxy for addresses that begin with `http:`, and for all others without a proxy of their own. */
  readonly http?: string;
  /** The proxy for addresses that begin with `https:`. */
  readonly https?: string;
  /** Hosts without a proxy, separated by commas; `*` for all. */
  readonly except?: string;
}

/** Options of the connections from a driver to its server. See {@link WireOptions}. */
export interface PoolOptions {
  /** The proxies to the server, on Node. Default: none. Elsewhere, the driver throws `OptionError`. */
  readonly proxy?: ProxyAddresses;
  /** Sends the requests in place of the driver's own connection pool; `proxy` then has no effect. */
  readonly dispatcher?: Dispatcher;
  /**
   * A function that sends all requests of the model, for example to record them. `proxy` then has no effect. Default:
   * on Node a connection pool of undici, which is faster, and elsewhere the global `fetch`.
   */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/** Throws `OptionError` if `fetch` is no function or conflicts with `dispatcher`, or if nothing would use `proxy`. */
export function checkFetch(owner: string, { fetch, dispatcher, proxy }: PoolOptions): void {
  if (proxy !== undefined && fetch === undefined && !dispatcher && !isNode())
    throw new OptionError(
      `proxy of ${owner} works only on Node: use the proxy settings of this runtime, or pass a fetch that uses the proxy.`,
    );
  if (fetch === undefined) return;
  if (typeof fetch !== "function")
    throw new OptionError(`fetch of ${owner} must be a function like the global fetch, not ${describe(fetch)}.`);
  if (dispatcher) throw new OptionError(`${owner} takes fetch or dispatcher, not both: leave one of them out.`);
}

/** Returns the options of the same driver with this `fetch` as the only way of sending requests. */
export function withFetch<Options extends PoolOptions>(options: Options, fetch: typeof globalThis.fetch) {
  const { dispatcher: _dispatcher, proxy: _proxy, ...others } = options;
  return { ...others, fetch };
}

function describe(value: unknown): string {
  return value === null ? "null" : `a ${typeof value}`;
}

/** Milliseconds that an idle connection is kept, unless the server sets less. */
const KEEP_ALIVE = 30_000;

/**
 * Loads the HTTP client early (about 30 ms), so that the first request does not wait for it.
 * @example await loadWire();
 */
export async function loadWire(): Promise<void> {
  if (isNode()) await loadAgent();
}

/**
 * Loads the part of undici that sends requests. All of undici takes twice as long, because of its caches, WebSockets
 * and mocks.
 */
async function loadAgent(): Promise<typeof Agent> {
  try {
    // @ts-expect-error: undici has no types for its parts.
    return (await import("undici/lib/dispatcher/agent.js")).default;
  } catch {
    // Another version of undici may have other parts.
    return (await import("undici")).Agent;
  }
}

/** True on Node, where undici runs. Each runtime names itself in `navigator`, and so do browsers. */
export function isNode(): boolean {
  return globalThis.navigator?.userAgent?.startsWith("Node.js/") ?? false;
}

/** Creates the sender of requests: a pool of connections, or the `fetch` of a runtime that keeps connections itself. */
export async function openPool(proxy?: ProxyAddresses): Promise<Requests> {
  return isNode() ? openUndici(proxy) : throughFetch((address, init) => fetch(address, init));
}

/** Creates a pool of connections to servers, which stay open between requests. */
export async function openUndici(proxy?: ProxyAddresses): Promise<Dispatcher> {
  // HTTP/2 costs more per piece of a stream, and shares one connection.
  // The caller decides how long a silence may be, so there are no timeouts.
  const options = { keepAliveTimeout: KEEP_ALIVE, allowH2: false, headersTimeout: 0, bodyTimeout: 0 };
  if (!proxy) return new (await loadAgent())(options);
  const { EnvHttpProxyAgent } = await import("undici");
  const { http = "", https = "", except = "" } = proxy;
  const noProxy = `${except},localhost,127.0.0.1,::1`;
  // Empty values prevent a lookup in the process's environment.
  return new EnvHttpProxyAgent({ ...options, httpProxy: http, httpsProxy: https, noProxy });
}
