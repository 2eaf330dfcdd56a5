import type { Dispatcher } from "undici";

/** Addresses of proxies. This machine itself is reached without one. */
export interface ProxyAddresses {
  /** For addresses that begin with `http:`, and for others that have none. */
  readonly http?: string;
  /** For addresses that begin with `https:`. */
  readonly https?: string;
  /** Hosts that are reached without a proxy, with commas between; `*` for all. */
  readonly except?: string;
}

/** How a driver's requests get to their server. */
export interface PoolOptions {
  /** The proxies between here and the server. Default: none. */
  readonly proxy?: ProxyAddresses;
  /** Sends the requests in place of a pool of this driver, which keeps connections open and knows `proxy`. */
  readonly dispatcher?: Dispatcher;
}

/** Milliseconds that an idle connection is kept, unless the server says less. */
const KEEP_ALIVE = 30_000;

/** Loads what sends requests, ahead of the first of them: a person who still writes does not wait for it (some 70 ms). */
export async function loadWire(): Promise<void> {
  await import("undici");
}

/** A pool of connections that stay open. Loads `undici`. */
export async function openPool(proxy?: ProxyAddresses): Promise<Dispatcher> {
  const { Agent, EnvHttpProxyAgent } = await import("undici");
  // Without HTTP/2, which costs more for each piece of a stream and puts all streams behind one connection.
  // Without limits of time: whoever waits knows how long a silence may be.
  const options = { keepAliveTimeout: KEEP_ALIVE, allowH2: false, headersTimeout: 0, bodyTimeout: 0 };
  if (!proxy) return new Agent(options);
  const { http = "", https = "", except = "" } = proxy;
  const noProxy = `${except},localhost,127.0.0.1,::1`;
  // What is empty is not looked for in the environment of the process.
  return new EnvHttpProxyAgent({ ...options, httpProxy: http, httpsProxy: https, noProxy });
}
