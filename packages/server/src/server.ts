import type { Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type Agent, OptionError, type Store } from "@banyan/core";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import { agentHost, Desk, type ServedHost } from "@banyan/desk";
import { NAME } from "@banyan/desk/serving";
import { PROTOCOL } from "@banyan/protocol";
import type { SharedDatabase } from "@banyan/store/postgres";
import { createAdaptorServer } from "@hono/node-server";
import { allowedHosts, inBrackets, isWildcard } from "./auth/addresses.ts";
import { type Authorization, authorizedPrincipal } from "./auth/authorization.ts";
import { Gate } from "./auth/gate.ts";
import { GuestLines } from "./auth/guest-lines.ts";
import { KeptShares } from "./auth/kept-shares.ts";
import { Principals } from "./auth/principal.ts";
import { randomToken } from "./auth/secret.ts";
import { builtPage } from "./built-page.ts";
import { checkedOrigins, checkedStore, isAgent, safeLogLine } from "./checked-options.ts";
import { Cluster } from "./cluster/cluster.ts";
import type { RedrivePolicy } from "./cluster/cluster-options.ts";
import type { Driver } from "./cluster/driver.ts";
import { LeaseDriver } from "./cluster/lease-driver.ts";
import { doors, httpApp } from "./http/app.ts";
import type { EventStream } from "./http/event-stream.ts";
import { openApi } from "./http/open-api.ts";
import { pageFiles } from "./http/page-files.ts";
import { SocketServer } from "./socket/socket-server.ts";
import { UserDesks } from "./user-desks.ts";

/** Maximum number of connections at once, so that the process can still open files. */
const CONNECTIONS = 2_000;

/** Milliseconds within which a connection must have sent its request headers, and between two checks. */
const REQUEST_WITHIN = 10_000;
const LOOK_EVERY = 2_000;

const DRAIN = 10_000;

/**
 * Options of `serve`.
 * @example
 * const database = postgresStore("postgres://me@db.internal/banyan");
 * await serve({
 *   host,
 *   port: 4_000,
 *   hostname: "127.0.0.1",
 *   allowedHosts: ["banyan.example.org"],
 *   allowedOrigins: ["https://app.example.com"],
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
  /** The agent, with its files, settings and rules. Not needed for `serve(agent, { store })`. */
  readonly host: ServedHost;
  /** The port. 0: any free port. Default 0. */
  readonly port?: number;
  /** The address to listen on. Default `127.0.0.1`: only programs on this machine reach it. */
  readonly hostname?: string;
  /**
   * Additional accepted values of `Host`, such as the name of a proxy, with the port unless it is the default of the
   * scheme.
   */
  readonly allowedHosts?: readonly string[];
  /** Other origins whose pages may send requests with a token, such as `https://app.example.com`. Default: none. */
  readonly allowedOrigins?: readonly string[];
  /** The token of the owner, who has all rights. Default: a random token. */
  readonly token?: string;
  /** The token of guests. Guests can only watch. Absent: no guests. */
  readonly guestToken?: string;
  /** The directory of the built page. Absent: the server has no page. */
  readonly page?: string;
  /** The folder for links and counts of unread turns. Absent: both are lost when the server stops. */
  readonly state?: string;
  /** Milliseconds until an unwatched conversation without running work closes. Default 30,000. */
  readonly idle?: number;
  /**
   * Maximum number of connections. The server turns further connections away. Guests get at most half of them, and at
   * most a twentieth from one address. Default 2,000.
   */
  readonly connections?: number;
  /** Makes the server one of several that share a database (`postgresStore(...)`). Absent: a single server. */
  readonly cluster?: {
    /** The property `shared` of the host's store. */
    readonly shared: SharedDatabase;
    /**
     * The address at which the other servers reach this one, for example `http://10.0.0.3:4180`. Default: the address
     * at which it listens.
     */
    readonly address?: string | undefined;
    /** Continues turns when servers die. Default: by the leases in the database. */
    readonly driver?: Driver | undefined;
    /** What happens to runs whose server died. Default `resume`. */
    readonly redrive?: RedrivePolicy | undefined;
    /** Milliseconds that `stop` waits for runs before it hands them over. Default 10,000. */
    readonly drain?: number | undefined;
  };
  /** Receives refusals and defects, one line each, without secrets. Absent: no log. */
  log?(line: string): void;
}

/**
 * Options for serving an agent of your own: where its conversations are stored, and the options of a server. Without `page`, the
 * server has the built page.
 * @example
 * const store = sqliteStore({ directory: "conversations" });
 * await serve(agent, { store, port: 4_000, token: "a long secret" });
 */
export interface ServeAgentOptions extends Omit<ServeOptions, "host"> {
  /** The store of the conversations. The caller closes the store after the server has stopped. */
  readonly store: Store;
  /**
   * Decides about each request without a token of the server, also for the page and its WebSocket: `true` gives all rights,
   * on all conversations, and `{ user, rights }` fewer. The server has already refused requests of foreign sites and to
   * foreign host names. A rejection refuses the request. Default: only tokens count.
   * @example
   * await serve(agent, { store, authorize: (request) => request.headers.get("x-user") === "ada" && { user: "ada" } });
   */
  authorize?(request: Request): Authorization | Promise<Authorization>;
}

const OPTIONS: OptionNames<ServeOptions> = {
  host: true,
  port: "number",
  hostname: "string",
  allowedHosts: "list",
  allowedOrigins: "list",
  token: "string",
  guestToken: "string",
  page: "string",
  state: "string",
  idle: "number",
  connections: "number",
  cluster: "object",
  log: "function",
};

const CLUSTER: OptionNames<NonNullable<ServeOptions["cluster"]>> = {
  shared: "object!",
  address: "string",
  driver: "object",
  redrive: true,
  drain: "number",
};

/** A server that listens for clients. See {@link serve}. */
export interface RunningServer extends AsyncDisposable {
  /** For example `http://127.0.0.1:4870`. */
  readonly address: string;
  readonly token: string;
  /** The page address that signs in a browser; show it only to the user. */
  readonly pageAddress: string;
  /** A page address that signs in once, within a minute: for places that others may see, such as the process list. */
  pageAddressOnce(): string;
  /**
   * Informs the clients, interrupts the runs, writes their ends to the log, and closes every conversation and
   * connection. The host belongs to the caller and stays open.
   */
  stop(): Promise<void>;
}

/**
 * Serves an agent of your own over HTTP and WebSocket: its chats, the page, and the HTTP interfaces for other programs.
 * The agent has only what its options say, and no files, settings or slash commands of Banyan. The server refuses
 * commands about these, and the page does not show them. Resolves when the server listens. Rejects with `OptionError`
 * for unusable options. Rejects with the system's error if the server cannot listen, for example because the port is in
 * use.
 *
 * @example
 * ```ts
 * const server = await serve(agent, { store: sqliteStore({ directory: "conversations" }) });
 * console.log(server.pageAddress);
 * ```
 */
export async function serve(agent: Agent, options: ServeAgentOptions): Promise<RunningServer>;
/** Serves the agent of a host, with its files, settings and rules. Resolves and rejects like `serve(agent, { store })`. */
export async function serve(options: ServeOptions): Promise<RunningServer>;
export async function serve(first: Agent | ServeOptions, second?: ServeAgentOptions): Promise<RunningServer> {
  if (isAgent(first)) {
    const { store, page = builtPage(), authorize, ...others } = agentServeOptions(second);
    const users = authorize && { agent: first, store, authorize };
    return serveHost({ host: agentHost(first, store), ...(page !== undefined && { page }), ...others }, users);
  }
  const isObject = typeof first === "object" && first !== null;
  const host = isObject ? first.host : undefined;
  // `serve({ store })` lacks its agent: "store is no option" would not help.
  if (host || (isObject && !("store" in first))) refuseUnknown("serve", first, OPTIONS);
  if (!host)
    throw new OptionError("serve needs an agent and a store, serve(agent, { store }), or a host, serve({ host }).");
  return serveHost(first);
}

function agentServeOptions(options: ServeAgentOptions | undefined): ServeAgentOptions {
  const { host: _, ...names } = OPTIONS;
  const checked = checkedStore("serve", options, { ...names, store: true, authorize: "function" });
  if (!checked.authorize || !checked.cluster) return checked;
  throw new OptionError(
    "serve: `authorize` and `cluster` exclude each other. Put a proxy that knows users before a cluster.",
  );
}

/** The agent and the store of authorized users, each of whom has a desk. */
interface AuthorizedUsers {
  readonly agent: Agent;
  readonly store: Store;
  authorize(request: Request): Authorization | Promise<Authorization>;
}

async function serveHost(options: ServeOptions, authorized?: AuthorizedUsers): Promise<RunningServer> {
  const { host, token = randomToken(), hostname = "127.0.0.1", guestToken } = options;
  const origins = checkedOrigins("serve", options.allowedOrigins);
  const log = (line: string) => options.log?.(safeLogLine(line));
  const defect = (error: unknown) => log(error instanceof Error ? (error.stack ?? error.message) : String(error));
  const { cluster: many } = options;
  if (many !== undefined) refuseUnknown("serve", many, CLUSTER, "cluster.");
  const cluster =
    many &&
    new Cluster({
      shared: many.shared,
      store: host.store,
      redrive: many.redrive ?? "resume",
      defect,
      log,
      driver: many.driver ?? new LeaseDriver(many.shared, defect),
      tokens: { owner: token, guest: guestToken },
    });
  // Each server of a cluster would keep its own links, and could not revoke those of the others.
  const shares = many
    ? undefined
    : new KeptShares(options.state === undefined ? undefined : join(options.state, "links.json"));
  const desk = new Desk({ host, state: options.state, idle: options.idle, shares, defect }, cluster);

  let port = options.port ?? 0;
  const ownHost = many?.address === undefined ? [] : [new URL(many.address).host];
  // A sign-in at one node counts at all nodes.
  const cookie = () => (cluster ? "banyan-nodes" : `banyan-${port}`);
  const gate = new Gate(new Principals({ owner: token, guest: guestToken }, shares), {
    hosts: () => allowedHosts({ host: hostname, port }, [...(options.allowedHosts ?? []), ...ownHost]),
    cookie,
    origins,
    authorize: authorized && (async (request) => authorizedPrincipal(await authorized.authorize(request))),
  });
  let isStopping = false;
  const streams = new Set<EventStream>();
  const { connections = CONNECTIONS } = options;
  const guests = new GuestLines(connections);
  const api = () => openApi(NAME, doors);
  const users =
    authorized &&
    new UserDesks({
      agent: authorized.agent,
      store: authorized.store,
      client: "banyan serve",
      state: options.state,
      idle: options.idle,
      streams,
      guests,
      openApi: api,
      nothingHere: (context) =>
        context.json({ error: { code: "not-found", message: "This address does not exist." } }, 404),
      defect,
    });
  const app = httpApp({
    gate,
    users,
    origins,
    cookie,
    page: options.page === undefined ? new Map() : pageFiles(options.page),
    desk,
    streams,
    guests,
    isReady: async () => (await cluster?.isReady()) ?? !isStopping,
    isStopping: () => isStopping,
    health: () => ({ status: "ok", server: NAME, protocol: PROTOCOL }),
    openApi: api,
    log,
    defect,
  });
  const server = createAdaptorServer({
    fetch: app.fetch,
    // Other code in this process relies on the global `Response`, which the library would replace.
    overrideGlobalObjects: false,
    serverOptions: { headersTimeout: REQUEST_WITHIN, connectionsCheckingInterval: LOOK_EVERY },
  }) as HttpServer;
  server.maxConnections = connections;
  server.on("drop", (dropped) =>
    log(
      `${dropped?.remoteAddress}: connection refused: the maximum of ${server.maxConnections} connections is reached`,
    ),
  );
  const sockets = new SocketServer(server, gate, { desk, users, log, guests });

  const stop = async () => {
    isStopping = true;
    // Clients get answers until no work is left on the desk.
    const stopDesk = () => {
      closed ??= new Promise((resolve) => server.close(resolve));
      return Promise.all([desk.stop(), users?.stop()]).then(() => {});
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
    port = await untilListening(server, port, hostname);
  } catch (error) {
    await desk.stop();
    throw error;
  }
  // A server that listens on all addresses is reached at this one.
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

function untilListening(server: HttpServer, port: number, hostname: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, hostname, () => {
      server.removeListener("error", reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}
