import type { Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import { PROTOCOL } from "@banyan/protocol";
import type { Shared } from "@banyan/store/postgres";
import { createAdaptorServer } from "@hono/node-server";
import { allowedHosts, inBrackets, isWildcard } from "./auth/addresses.ts";
import { Gate } from "./auth/gate.ts";
import { GuestLines } from "./auth/guest-lines.ts";
import { KeptShares } from "./auth/kept-shares.ts";
import { Principals } from "./auth/principal.ts";
import { randomToken } from "./auth/secret.ts";
import { Cluster, type Redrive } from "./cluster/cluster.ts";
import type { Driver } from "./cluster/driver.ts";
import { LeaseDriver } from "./cluster/lease-driver.ts";
import type { ServedHost } from "./desk/commands/workplace.ts";
import { Desk, NAME } from "./desk/desk.ts";
import { doorPaths } from "./doors/described.ts";
import { httpApp } from "./http/app.ts";
import type { EventStream } from "./http/event-stream.ts";
import { openApi } from "./http/open-api.ts";
import { pageFiles } from "./http/page-files.ts";
import { SocketServer } from "./socket/socket-server.ts";

/** Connections at once, so that files can still be opened, whoever connects. */
const CONNECTIONS = 2_000;

/** Milliseconds within which a connection must have said what it asks for, and between two looks at that. */
const REQUEST_WITHIN = 10_000;
const LOOK_EVERY = 2_000;

/** Milliseconds for which a server that is one of many waits for what runs, before it hands it over. */
const DRAIN = 10_000;

/**
 * What is served, and how.
 * @example
 * const database = postgresStore("postgres://me@db.internal/banyan");
 * await serve({
 *   host,
 *   port: 4_000,
 *   hostname: "127.0.0.1",
 *   allowedHosts: ["banyan.example.org"],
 *   token: "a long secret",
 *   guestToken: "another",
 *   page: "dist/page",
 *   state: "state",
 *   idle: 60_000,
 *   connections: 100,
 *   cluster: { shared: database.shared, address: "http://10.0.0.3:4000", redrive: "resume", drain: 30_000 },
 *   log: (line) => console.error(line),
 * });
 */
export interface ServeOptions {
  readonly host: ServedHost;
  /** 0 takes a free one. Default 0. */
  readonly port?: number;
  /** Where to listen. Default `127.0.0.1`: only programs on this machine reach it. */
  readonly hostname?: string;
  /** Further values of `Host` to answer to, with the port if it is not the scheme's own: of a proxy in front. */
  readonly allowedHosts?: readonly string[];
  /** Who shows it may do everything. A random one when absent. */
  readonly token?: string;
  /** Who shows it may only watch. */
  readonly guestToken?: string;
  /** The built page. Without it, the server has no page. */
  readonly page?: string;
  /** Where to keep what has been read; as long as the server lives when absent. */
  readonly state?: string;
  /** Milliseconds for which a conversation stays open that nobody watches and nothing works in. Default 30,000. */
  readonly idle?: number;
  /**
   * Connections at once; further ones are turned away. Guests get half of them at most, and a twentieth from one address.
   * Default 2,000.
   */
  readonly connections?: number;
  /** Makes it one of many servers that share a database: its store is `postgresStore(...)`. Alone when absent. */
  readonly cluster?: {
    /** Of the host's store. */
    readonly shared: Shared;
    /** Where the other servers reach this one, as `http://10.0.0.3:4180`. Where it listens when absent. */
    readonly address?: string | undefined;
    /** Sees to it that turns come to their end though servers die. By the leases in the database when absent. */
    readonly driver?: Driver | undefined;
    /** What becomes of runs whose server died. Default `resume`. */
    readonly redrive?: Redrive | undefined;
    /** Milliseconds for which `stop` waits for what runs, before it hands it over. Default 10,000. */
    readonly drain?: number | undefined;
  };
  /** Refusals and defects, one line each, without secrets. Nothing is logged when absent. */
  log?(line: string): void;
}

const OPTIONS: OptionNames<ServeOptions> = {
  host: true,
  port: true,
  hostname: true,
  allowedHosts: true,
  token: true,
  guestToken: true,
  page: true,
  state: true,
  idle: true,
  connections: true,
  cluster: true,
  log: true,
};

/** A server that listens. */
export interface RunningServer extends AsyncDisposable {
  /** As in `http://127.0.0.1:4870`. */
  readonly address: string;
  readonly token: string;
  /** The address of the page that signs a browser in; to be shown to its user only. */
  readonly pageAddress: string;
  /** One that does so once, within a minute: for a place that others may see, as the list of processes is. */
  pageAddressOnce(): string;
  /**
   * Tells the clients, interrupts what runs with its facts in the log, and closes every conversation and connection. The
   * host stays open: it is the caller's.
   */
  stop(): Promise<void>;
}

/**
 * Serves conversations over HTTP and WebSocket. Resolves when the server listens; rejects with the error of the system
 * when it cannot, as when the port is taken.
 */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  refuseUnknown("serve", options, OPTIONS);
  const { host, token = randomToken(), hostname = "127.0.0.1", guestToken } = options;
  const log = (line: string) => options.log?.(onOneLine(line));
  const defect = (error: unknown) => log(error instanceof Error ? (error.stack ?? error.message) : String(error));
  const { cluster: many } = options;
  const cluster =
    many &&
    new Cluster({
      ...{ shared: many.shared, store: host.store, redrive: many.redrive ?? "resume", defect, told: log },
      driver: many.driver ?? new LeaseDriver(many.shared, defect),
      tokens: { owner: token, guest: guestToken },
    });
  // Of many servers, each would have links of its own, and take back none of the others.
  const shares = many
    ? undefined
    : new KeptShares(options.state === undefined ? undefined : join(options.state, "links.json"));
  const desk = new Desk({ host, state: options.state, idle: options.idle, shares, defect }, cluster);

  let port = options.port ?? 0;
  const ownHost = many?.address === undefined ? [] : [new URL(many.address).host];
  // A page that signed in at one node is signed in at all.
  const cookie = () => (cluster ? "banyan-nodes" : `banyan-${port}`);
  const gate = new Gate(new Principals({ owner: token, guest: guestToken }, shares), {
    hosts: () => allowedHosts({ host: hostname, port }, [...(options.allowedHosts ?? []), ...ownHost]),
    cookie,
  });
  let isStopping = false;
  const streams = new Set<EventStream>();
  const { connections = CONNECTIONS } = options;
  const guests = new GuestLines(connections);
  const app = httpApp({
    gate,
    cookie,
    page: options.page === undefined ? new Map() : pageFiles(options.page),
    desk,
    streams,
    guests,
    isReady: async () => (await cluster?.isReady()) ?? !isStopping,
    isStopping: () => isStopping,
    health: () => ({ status: "ok", server: NAME, protocol: PROTOCOL }),
    openApi: () => openApi(NAME, doorPaths()),
    log,
    defect,
  });
  const server = createAdaptorServer({
    fetch: app.fetch,
    // Others of this process know answers by the global Response: it would be taken from them.
    overrideGlobalObjects: false,
    serverOptions: { headersTimeout: REQUEST_WITHIN, connectionsCheckingInterval: LOOK_EVERY },
  }) as HttpServer;
  server.maxConnections = connections;
  server.on("drop", (dropped) => log(`${dropped?.remoteAddress}: turned away: ${server.maxConnections} connections`));
  const sockets = new SocketServer(server, gate, { desk, log, guests });

  const stop = async () => {
    isStopping = true;
    // Until it has nothing at work any more, clients are answered.
    const stopDesk = () => {
      closed ??= new Promise((resolve) => server.close(resolve));
      return desk.stop();
    };
    let closed: Promise<unknown> | undefined;
    await (cluster?.drain(many?.drain ?? DRAIN, stopDesk) ?? stopDesk());
    await sockets.close();
    for (const stream of streams) stream.close();
    shares?.[Symbol.dispose]();
    server.closeAllConnections();
    await closed;
  };
  try {
    port = await listening(server, port, hostname);
  } catch (error) {
    await desk.stop();
    throw error;
  }
  // What listens on all addresses is reached at this one.
  const address = `http://${isWildcard(hostname) ? "127.0.0.1" : inBrackets(hostname)}:${port}`;
  try {
    await cluster?.begin(desk, many?.address ?? address);
  } catch (error) {
    await stop();
    throw error;
  }
  let stopped: Promise<void> | undefined;
  const once = () => (stopped ??= stop());
  return {
    address,
    token,
    pageAddress: `${address}/?token=${encodeURIComponent(token)}`,
    pageAddressOnce: () => `${address}/?token=${gate.tokenForOnePage()}`,
    stop: once,
    [Symbol.asyncDispose]: once,
  };
}

/** Resolves with the port once the server listens. */
function listening(server: HttpServer, port: number, hostname: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, hostname, () => {
      server.removeListener("error", reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** What came from a client must not look like another line of the log, nor steer the terminal that shows it. */
function onOneLine(line: string): string {
  return line.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ");
}
