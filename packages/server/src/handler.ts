import type { RequestListener } from "node:http";
import type { Agent, Store } from "@banyan/core";
import { OptionError } from "@banyan/core";
import type { OptionNames } from "@banyan/core/conversation";
import { NAME } from "@banyan/desk/serving";
import { PROTOCOL } from "@banyan/protocol";
import { getRequestListener } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { getPath as addressOf } from "hono/utils/url";
import { isLoopbackAddress } from "./auth/addresses.ts";
import { type Authorization, authorizedPrincipal } from "./auth/authorization.ts";
import { Gate, type GateRefusal, type HttpEnvironment, requestOf } from "./auth/gate.ts";
import { GuestLines } from "./auth/guest-lines.ts";
import { Principals } from "./auth/principal.ts";
import { randomToken } from "./auth/secret.ts";
import { checkedOrigins, checkedStore, isAgent, safeLogLine } from "./checked-options.ts";
import { allowOrigins, doors, internalError, programAddresses, refusalBody, securityHeaders } from "./http/app.ts";
import type { EventStream } from "./http/event-stream.ts";
import { openApi } from "./http/open-api.ts";
import { UserDesks } from "./user-desks.ts";

/** Maximum number of feeds of guests at once, doubled; see `GuestLines`. */
const CONNECTIONS = 2_000;

/**
 * Options of a handler.
 * @example
 * handler(agent, {
 *   store: sqliteStore({ directory: "conversations" }),
 *   authorize: (request) => request.headers.get("x-user") === "ada",
 *   path: "/agent",
 *   allowedHosts: ["api.example.com"],
 *   allowedOrigins: ["https://app.example.com"],
 *   state: "state",
 *   idle: 60_000,
 *   log: (line) => console.error(line),
 * });
 */
export interface HandlerOptions {
  /** The store of the conversations. The caller closes the store after `close`. */
  readonly store: Store;
  /** The token that requests must send (`authorization: Bearer TOKEN`). Default: a random token. */
  readonly token?: string;
  /**
   * Decides about each request, instead of a token: `true` gives all rights, on all conversations, and `{ user, rights }` fewer.
   * The handler has already refused requests of foreign sites and to foreign host names. A rejection refuses the request.
   */
  authorize?(request: Request): Authorization | Promise<Authorization>;
  /** The path before the addresses, such as `/agent`. Not needed if the framework removes the path. Default: none. */
  readonly path?: string;
  /**
   * Accepted values of `Host`, in addition to `localhost` and other loopback names. For example, the public name of
   * your server.
   */
  readonly allowedHosts?: readonly string[];
  /** Other origins whose pages may send requests, with the user's cookies: `https://app.example.com`, for example. */
  readonly allowedOrigins?: readonly string[];
  /** The folder for counts of unread turns. Absent: the counts are lost when the handler closes. */
  readonly state?: string;
  /** Milliseconds until an unwatched conversation without running work closes. Default 30,000. */
  readonly idle?: number;
  /** Receives refusals and defects, one line each, without secrets. Absent: no log. */
  log?(line: string): void;
}

const OPTIONS: OptionNames<HandlerOptions> = {
  store: true,
  token: "string",
  authorize: "function",
  path: "string",
  allowedHosts: "list",
  allowedOrigins: "list",
  state: "string",
  idle: "number",
  log: "function",
};

/** An agent behind a web server of your own. See {@link handler}. */
export interface AgentHandler extends AsyncDisposable {
  /** Answers a request. For Hono, Next.js routes, Deno and others that use the Fetch API. */
  fetch(request: Request, bindings?: unknown): Promise<Response>;
  /**
   * The same handler for `createServer` of Node, and for Express: `app.use("/agent", node)`, before any parser of
   * bodies.
   */
  readonly node: RequestListener;
  /** The addresses of the doors, with `path`. All doors that need no WebSocket are open. */
  readonly doors: readonly string[];
  /** The token for requests; `undefined` with `authorize`. */
  readonly token: string | undefined;
  /** Interrupts the runs, writes their ends to the log, and closes every conversation. */
  close(): Promise<void>;
}

/**
 * Makes an HTTP handler from an agent of your own, for a web server that you already have. It offers what `serve`
 * offers without WebSocket: the AI SDK's `useChat`, AG-UI, OpenAI's API and the API for scripts. The page and editors
 * need `serve`. Only one process at a time can handle a conversation. Throws `OptionError` for unusable options.
 *
 * @example
 * ```ts
 * const { fetch, doors } = handler(agent, { store: sqliteStore({ directory: "conversations" }), token: "a long secret" });
 * console.log(doors, (await fetch(new Request("http://localhost/api/v1/health"))).status);
 * ```
 */
export function handler(agent: Agent, options: HandlerOptions): AgentHandler {
  const { store, authorize, path = "", allowedHosts = [], allowedOrigins } = checkedStore("handler", options, OPTIONS);
  if (!isAgent(agent))
    throw new OptionError("handler: the first argument must be an Agent: handler(agent, { store }).");
  if (authorize && options.token !== undefined)
    throw new OptionError("handler: `token` and `authorize` exclude each other. Check the token in `authorize`.");
  if (path !== "" && !/^\/.*[^/]$/.test(path))
    throw new OptionError(
      `handler: \`path\` begins with a slash and ends without one, as in "/agent"; this is "${path}".`,
    );
  const origins = checkedOrigins("handler", allowedOrigins);
  // With `authorize`, no request can have this token.
  const token = options.token ?? randomToken();
  const log = (line: string) => options.log?.(safeLogLine(line));
  const defect = (error: unknown) => log(error instanceof Error ? (error.stack ?? error.message) : String(error));
  const { state, idle } = options;
  const names = new Set(allowedHosts.map((name) => name.toLowerCase()));
  const hosts = { has: (host: string) => names.has(host) || isLoopbackAddress(host.replace(/:\d+$/, "")) };
  const gate = new Gate(new Principals({ owner: token }), {
    hosts: () => hosts,
    cookie: () => "banyan-handler",
    origins,
    authorize: authorize && (async (request) => authorizedPrincipal(await authorize(request))),
  });
  const streams = new Set<EventStream>();

  const open = ["/api/v1", ...doors.map(({ address }) => address)].map((address) => `${path}${address}`);
  const nothingHere = (context: Context<HttpEnvironment>) => {
    const message = `There is nothing at this address. The handler serves ${open.join(", ")}.`;
    return context.json({ error: { code: "not-found", message } }, 404);
  };
  const getPath = (request: Request) => withoutPath(addressOf(request), path);
  const users = new UserDesks({
    agent,
    store,
    client: "banyan handler",
    state,
    idle,
    streams,
    guests: new GuestLines(CONNECTIONS),
    openApi: () => ({ ...openApi(NAME, doors), servers: [{ url: path === "" ? "/" : path }] }),
    getPath,
    nothingHere,
    defect,
  });

  let closed: Promise<void> | undefined;
  const app = new Hono<HttpEnvironment>({ getPath });
  const refuse = (context: Context<HttpEnvironment>, { status, message }: GateRefusal) => {
    const { from, method } = requestOf(context);
    log(`${from}: refused ${method} ${context.req.path.slice(0, 200)}: ${message}`);
    return context.json(refusalBody(context.req.path, status, message), status);
  };
  app.use(async (context, next) => {
    await next();
    for (const [name, value] of Object.entries(securityHeaders(requestOf(context).header("host") ?? "")))
      context.header(name, value);
  });
  app.use(async (context, next) => {
    const knock = requestOf(context);
    const stranger = gate.stranger(knock);
    return stranger ? refuse(context, inHandler(stranger, knock.header("host"))) : next();
  });
  allowOrigins(app, origins);
  app.get("/api/v1/health", (context) => context.json({ status: "ok", server: NAME, protocol: PROTOCOL }));
  const answer = async (context: Context<HttpEnvironment>): Promise<Response> => {
    const knock = requestOf(context);
    const verdict = await gate.judge(knock, context.req.raw);
    if (!verdict.ok) return refuse(context, authorize ? verdict : inHandler(verdict, knock.header("host")));
    // The clients of the doors would repeat their commands until the desk takes them.
    if (closed) return context.json({ error: { code: "stopping", message: "This handler is closed." } }, 503);
    return users.answer(context, verdict.principal);
  };
  for (const addresses of programAddresses()) app.all(addresses, answer);
  app.all("*", nothingHere);
  app.onError(internalError(defect));

  const fetch = async (request: Request, bindings?: unknown) =>
    app.fetch(request, typeof bindings === "object" && bindings !== null ? bindings : {});
  const close = () => {
    closed ??= users.stop().then(() => {
      for (const stream of streams) stream.close();
    });
    return closed;
  };
  return {
    fetch,
    node: getRequestListener(fetch, { overrideGlobalObjects: false }),
    doors: open,
    token: authorize ? undefined : token,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Replaces the advice of `banyan serve` by advice for the developer of this server. */
function inHandler(refusal: GateRefusal, host = ""): GateRefusal {
  if (refusal.status === 421) {
    const message = `The host name ${safeLogLine(host).slice(0, 200)} is not allowed. Add it to \`allowedHosts\` of the handler.`;
    return { ...refusal, message };
  }
  if (refusal.status !== 401) return refusal;
  return { ...refusal, message: "Not signed in. Send the handler's token: authorization: Bearer TOKEN." };
}

function withoutPath(address: string, path: string): string {
  return path !== "" && address.startsWith(`${path}/`) ? address.slice(path.length) : address;
}
