import {
  type FetchLike,
  type OAuthClientProvider,
  type ReconnectionScheduler,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import type { HttpEntry } from "../entries/entry.ts";
import { readableFetch } from "./http-answer.ts";
import type { ReconnectSettings } from "./lifeline.ts";

/** What the way to a server needs beside its entry. */
export interface HttpTransportOptions {
  readonly fetch: FetchLike;
  readonly provider: OAuthClientProvider | undefined;
  readonly reconnect: Required<ReconnectSettings>;
  readonly onLost: () => void;
}

/**
 * Speaks to a server over streamable HTTP. The stream of the server's own messages is opened again where it broke off;
 * `onLost` is called when that goes on failing.
 */
export function httpTransport(entry: HttpEntry, options: HttpTransportOptions): StreamableHTTPClientTransport {
  const { delay, maxDelay, attempts } = options.reconnect;
  const reconnect: ReconnectionScheduler = (attempt, pause, failures) => {
    if (failures >= attempts) return options.onLost();
    const timer = setTimeout(attempt, pause).unref();
    return () => clearTimeout(timer);
  };
  return new StreamableHTTPClientTransport(new URL(entry.url), {
    fetch: readableFetch(options.fetch, entry.url),
    requestInit: { headers: { ...entry.headers } },
    reconnectionScheduler: reconnect,
    reconnectionOptions: {
      initialReconnectionDelay: delay,
      maxReconnectionDelay: maxDelay,
      reconnectionDelayGrowFactor: 2,
      // The scheduler counts.
      maxRetries: Number.POSITIVE_INFINITY,
    },
    ...(options.provider && { authProvider: options.provider }),
  });
}
