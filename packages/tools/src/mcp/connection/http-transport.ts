import {
  type FetchLike,
  type OAuthClientProvider,
  type ReconnectionScheduler,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import type { HttpEntry } from "../entries/entry.ts";
import { readableFetch } from "./http-answer.ts";
import type { ReconnectSettings } from "./lifeline.ts";

/** Options of the HTTP transport in addition to the server's entry. */
export interface HttpTransportOptions {
  readonly fetch: FetchLike;
  readonly provider: OAuthClientProvider | undefined;
  readonly reconnect: Required<ReconnectSettings>;
  readonly onLost: () => void;
}

/**
 * Connects to an MCP server over streamable HTTP. Reopens a broken stream of server messages, and calls `onLost` after
 * `reconnect.attempts` failures in a row.
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
      maxRetries: Number.POSITIVE_INFINITY,
    },
    ...(options.provider && { authProvider: options.provider }),
  });
}
