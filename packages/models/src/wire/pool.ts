import type { Dispatcher } from "undici";

/** Addresses of proxies. This machine is always reached directly. */
export interface ProxyAddresses {
  /** For addresses that begin with `http:`, and for others without a proxy of their own. */
  readonly http?: string;
  /** For addresses that begin with `https:`. */
  readonly https?: string;
  /** Hosts that are reached directly, separated by commas; `*` for all. */
  readonly except?: string;
}

/** How a driver's requests reach their server. */
export interface PoolOptions {
  /** The proxies to the server. Default: none. */
  readonly proxy?: ProxyAddresses;
  /** Sends the requests in place of the driver's own connection pool, which uses `proxy`. */
  readonly dispatcher?: Dispatcher;
}

/** Milliseconds that an idle connection is kept, unless the server sets less. */
const KEEP_ALIVE = 30_000;

/** Loads the HTTP client early (about 70 ms), so that the first request does not wait for it. */
export async function loadWire(): Promise<void> {
  await import("undici");
}

/** Opens a pool of connections that stay open. Loads `undici`. */
export async function openPool(proxy?: ProxyAddresses): Promise<Dispatcher> {
  const { Agent, EnvHttpProxyAgent } = await import("undici");
  // No HTTP/2: it costs more per piece of a stream and shares one connection. No timeouts: the caller decides how long a
  // silence may be.
  const options = { keepAliveTimeout: KEEP_ALIVE, allowH2: false, headersTimeout: 0, bodyTimeout: 0 };
  if (!proxy) return new Agent(options);
  const { http = "", https = "", except = "" } = proxy;
  const noProxy = `${except},localhost,127.0.0.1,::1`;
  // Empty values prevent a lookup in the process's environment.
  return new EnvHttpProxyAgent({ ...options, httpProxy: http, httpsProxy: https, noProxy });
}
