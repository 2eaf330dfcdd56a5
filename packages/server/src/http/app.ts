import { idToAddress } from "@banyan/core/conversation";
import type { Principal, ShareScope } from "@banyan/desk";
import { type Context, type ErrorHandler, Hono, type MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { deleteCookie, setCookie } from "hono/cookie";
import { cors } from "hono/cors";
import { parseAccept } from "hono/utils/accept";
import { type Gate, type GateRefusal, type HttpEnvironment, requestOf } from "../auth/gate.ts";
import { SIGNED_IN } from "../auth/signed-in-page.ts";
import { agUi } from "../doors/ag-ui/door.ts";
import type { Door } from "../doors/door.ts";
import { CONVERSATION, openAi } from "../doors/openai/door.ts";
import { uiMessages } from "../doors/ui-messages/door.ts";
import { Pace } from "../socket/pace.ts";
import type { PageFile } from "./page-files.ts";
import { type RestParts, rest } from "./rest.ts";

/** The HTTP interfaces of other protocols (doors): OpenAI's API, the AI SDK's `useChat` and AG-UI. */
export const doors: readonly Door[] = [openAi, uiMessages, agUi];

const LARGEST_SIGN_IN = 10_000;

const COOKIE = { httpOnly: true, sameSite: "Strict", path: "/" } as const;

const WHY = "<!-- why -->";

const NOT_BUILT = "The page was not built. Run npm run build, then restart the server.";

/** The functions of the server that the HTTP app uses. */
export interface HttpParts extends RestParts {
  health(): object;
  log(line: string): void;
  readonly gate: Gate;
  /** The desks of authorized users. Absent: all clients use one desk. */
  readonly users: UserPrograms | undefined;
  /** Other origins whose pages may send requests to the addresses for programs. */
  readonly origins: ReadonlySet<string>;
  readonly page: ReadonlyMap<string, PageFile>;
  /** Returns whether a load balancer may send clients here. */
  isReady(): Promise<boolean>;
  /** Returns whether clients must reconnect: the load balancer then picks another server. */
  isStopping(): boolean;
  cookie(): string;
}

/** Answers the requests of authorized users. Each user has a desk. */
export interface UserPrograms {
  answer(context: Context<HttpEnvironment>, principal: Principal): Promise<Response>;
}

/** Creates the HTTP app of the server: the page and the HTTP interfaces for programs, but not the sockets. */
export function httpApp(parts: HttpParts): Hono<HttpEnvironment> {
  const { gate, log } = parts;
  const app = new Hono<HttpEnvironment>();

  /** Answers with the sign-in page, and the reason why the user must sign in. */
  const signInPage = (context: Context<HttpEnvironment>, status: 200 | GateRefusal["status"], why = ""): Response => {
    const file = parts.page.get("/sign-in.html");
    context.header("Cache-Control", "no-store");
    return context.html(file ? String(file.bytes()).replace(WHY, why) : noticePage(why || NOT_BUILT), status);
  };

  const refuse = (context: Context<HttpEnvironment>, { status, message }: GateRefusal): Response => {
    // Log only the path: the query may hold a token.
    log(`${requestOf(context).from}: refused ${context.req.method} ${context.req.path.slice(0, 200)}: ${message}`);
    if (status === 401) context.header("WWW-Authenticate", "Bearer");
    const wantsPage = context.req.header("accept")?.includes("text/html") ?? false;
    if (!wantsPage || doorAt(context.req.path)?.refusal)
      return context.json(refusalBody(context.req.path, status, message), status);
    // A request under a foreign name must not be asked for a token.
    return status === 421 ? context.html(noticePage(message), status) : signInPage(context, status, message);
  };

  // Load balancers know neither names nor tokens. These addresses reveal nothing else.
  app.get("/healthz", (context) => context.text("ok\n"));
  app.get("/readyz", async (context) =>
    (await parts.isReady()) ? context.text("ready\n") : context.text("not ready\n", 503),
  );

  app.use(async (context, next) => {
    const knock = requestOf(context);
    for (const [name, value] of Object.entries(securityHeaders(knock.header("host") ?? "")))
      context.header(name, value);
    if (parts.isStopping()) context.header("Connection", "close");
    const stranger = gate.stranger(knock, context.req.path === FRAME);
    return stranger ? refuse(context, stranger) : next();
  });
  allowOrigins(app, parts.origins);

  app.get("/api/v1/health", (context) => context.json(parts.health()));

  // The only address that takes a token. The page continues with a one-time token behind `#`, which no request contains
  // (S3).
  app.get("/", async (context, next) => {
    const token = context.req.query("token");
    if (token === undefined) return next();
    const exchanged = gate.exchange(token, requestOf(context));
    if (!("once" in exchanged)) return refuse(context, exchanged);
    context.header("Cache-Control", "no-store");
    return context.redirect(`/sign-in#${exchanged.once}`, 303);
  });

  app.post("/api/v1/sign-in", bodyLimit({ maxSize: LARGEST_SIGN_IN }), async (context) => {
    const said: unknown = await context.req.json().catch(() => undefined);
    const token = typeof said === "object" && said !== null && "token" in said ? said.token : undefined;
    if (typeof token !== "string") {
      const message = "To sign in, send a JSON object with a token.";
      return context.json({ error: { code: "malformed", message } }, 400);
    }
    const signedIn = gate.signIn(token, requestOf(context));
    context.header("Cache-Control", "no-store");
    if ("stays" in signedIn) return context.json({ path: sharePath(signedIn.stays) });
    if (!("page" in signedIn)) return refuse(context, signedIn);
    const { page, path = page.principal.only && sharePath(page.principal.only) } = signedIn;
    setCookie(context, parts.cookie(), page.cookie, { ...COOKIE, maxAge: SIGNED_IN });
    return context.json({ key: page.key, rights: page.principal.rights, ...(path !== undefined && { path }) });
  });

  // The server stores nothing per page: only this browser drops its cookie.
  app.post("/api/v1/sign-out", (context) => {
    deleteCookie(context, parts.cookie(), COOKIE);
    return context.json({});
  });

  // A page that lost its connection asks whether it is still signed in: a refused socket gives no reason.
  app.get("/api/v1/page", async (context) => {
    const page = await gate.page(requestOf(context), context.req.raw);
    context.header("Cache-Control", "no-store");
    return context.json({ signedIn: page !== undefined });
  });

  addPrograms(
    app,
    parts,
    async (context, next) => {
      const verdict = await gate.judge(requestOf(context), context.req.raw);
      if (!verdict.ok) return refuse(context, verdict);
      if (verdict.principal.only && !BY_LINK.test(context.req.path)) return refuse(context, NOT_BY_LINK);
      if (parts.users && verdict.principal.user !== undefined) return parts.users.answer(context, verdict.principal);
      context.set("principal", verdict.principal);
      return next();
    },
    pacing(),
  );

  // The page's files hold no data, which comes over the socket. They are the same in every installation.
  app.get("*", async (context) => {
    const { path } = context.req;
    const file = parts.page.get(path);
    if (file && path === FRAME) {
      for (const [name, value] of Object.entries(FRAME_HEADERS)) context.header(name, value);
      return sendFile(context, file);
    }
    if (file && !path.endsWith(".html")) return sendFile(context, file);
    if (path === "/sign-in") return signInPage(context, 200);
    const verdict = await gate.judgePage(requestOf(context), context.req.raw);
    if ("once" in verdict) {
      context.header("Cache-Control", "no-store");
      return context.redirect(`/sign-in#${verdict.once}`, 303);
    }
    if (!verdict.ok) return refuse(context, verdict);
    const isView = path === "/" || path === "/design" || path.startsWith("/c/");
    const index = parts.page.get("/index.html");
    if (isView && index) return sendFile(context, index);
    return context.html(noticePage(isView ? NOT_BUILT : "This address does not exist."), 404);
  });

  app.onError(internalError(parts.defect));
  return app;
}

/**
 * Adds the API for scripts and the HTTP interfaces of other protocols (doors). `admit` sets the principal (name and
 * rights) of a request, or refuses the request. `paced` limits the rate of requests, and forbids caching.
 */
export function addPrograms(
  app: Hono<HttpEnvironment>,
  parts: RestParts,
  admit: MiddlewareHandler<HttpEnvironment>,
  paced: MiddlewareHandler<HttpEnvironment>,
): void {
  for (const addresses of programAddresses()) app.use(addresses, admit);
  app.route("/api/v1", rest(parts, paced));
  for (const { address, open } of doors) {
    app.use(`${address}/*`, paced);
    app.route(address, open(parts.desk));
  }
}

/** Answers preflight requests of these origins, and lets their pages read responses at the addresses for programs. */
export function allowOrigins(app: Hono<HttpEnvironment>, origins: ReadonlySet<string>): void {
  if (origins.size === 0) return;
  const allow = cors({
    origin: [...origins],
    credentials: true,
    allowMethods: ["GET", "POST"],
    exposeHeaders: [CONVERSATION],
  });
  for (const addresses of programAddresses()) app.use(addresses, allow);
}

/** The patterns of all addresses of `addPrograms`. */
export function programAddresses(): readonly string[] {
  const outside = doors.map(({ address }) => `${address}/*`).filter((addresses) => !addresses.startsWith("/api/"));
  return ["/api/*", ...outside];
}

/** The body of a refusal, in the error format of the protocol that belongs to `path`. */
export function refusalBody(path: string, status: GateRefusal["status"], message: string): object {
  const code = status === 429 ? "busy" : "forbidden";
  return doorAt(path)?.refusal?.(code, message) ?? { error: { code, message } };
}

function doorAt(path: string): Door | undefined {
  return doors.find(({ address }) => path.startsWith(`${address}/`));
}

/** Returns a handler that reports errors that no part of the server expected. */
export function internalError(defect: (error: unknown) => void): ErrorHandler<HttpEnvironment> {
  return (error, context) => {
    defect(error);
    const message = "Internal server error. The server's log has the details.";
    return context.json({ error: { code: "failed", message } }, 500);
  };
}

/** The HTML for a browser that may not see the page. Contains no text of the request. */
function noticePage(message: string): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Banyan</title></head>
<body><h1>Banyan</h1><p>${message}</p></body>
</html>
`;
}

/** The API paths that a guest with a link may use (S29). These paths refuse commands about other conversations. */
const BY_LINK = /^\/api\/v1\/(commands|conversations\/[^/]+\/feed)$/;
const NOT_BY_LINK: GateRefusal = {
  ok: false,
  status: 403,
  message: "This link only shows one conversation.",
};

function sharePath({ conversation, leaf }: ShareScope): string {
  const path = `/c/${idToAddress(conversation)}`;
  return leaf === undefined ? path : `${path}?leaf=${encodeURIComponent(JSON.stringify(leaf))}`;
}

/** Sends a file in the best encoding that the browser accepts (W78). */
async function sendFile(context: Context<HttpEnvironment>, file: PageFile): Promise<Response> {
  context.header("Content-Type", file.type);
  context.header("Cache-Control", file.forever ? "public, max-age=31536000, immutable" : "no-cache");
  if (file.codings.length === 0) return context.body(new Uint8Array(file.bytes()));
  context.header("Vary", "Accept-Encoding");
  const coding = file.codings.find((one) => accepted(context).includes(one));
  if (coding === undefined) return context.body(new Uint8Array(file.bytes()));
  context.header("Content-Encoding", coding);
  return context.body(await file.coded(coding));
}

function accepted(context: Context): readonly string[] {
  const all = parseAccept(context.req.header("Accept-Encoding") ?? "");
  return all.flatMap(({ type, q }) => (q > 0 ? [type] : []));
}

/**
 * The headers of every response. They allow only scripts and styles of this server, no inline scripts, and no other
 * hosts. An answer of a model therefore cannot make the page send data (S12). No other page can frame it, load it as a
 * script or image, or keep a handle on its window (S20).
 */
export function securityHeaders(host: string): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    // List layout libraries set styles of elements. Under this policy, styles cannot load anything.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "frame-src 'self'",
    "font-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    `connect-src 'self' ws://${host} wss://${host}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    "Content-Security-Policy": policy.join("; "),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
  };
}

/** The document in which the page runs content that a model wrote (W61). */
const FRAME = "/frame.html";

/**
 * The headers of the frame and of all content in it. Its unique origin has no cookies, no storage and no access to the
 * page. It loads, sends and opens nothing. `Connection-Allowlist` closes two gaps of a content security policy: WebRTC
 * and DNS prefetch. The frame checks whether the browser supports it, and runs scripts only then.
 */
const FRAME_HEADERS: Readonly<Record<string, string>> = {
  "Content-Security-Policy": [
    "sandbox allow-scripts",
    "default-src 'none'",
    "script-src 'unsafe-inline'",
    "style-src 'unsafe-inline'",
    "img-src data: blob:",
    "media-src data: blob:",
    "font-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ].join("; "),
  "Connection-Allowlist": "()",
  "X-Frame-Options": "SAMEORIGIN",
};

const ADDRESSES = 1_000;

/** Limits the request rate of the API, over all its addresses, and forbids caching. */
function pacing(): MiddlewareHandler<HttpEnvironment> {
  const paces = new Map<string, Pace>();
  return async (context, next) => {
    // A guest on the owner's machine must not use up the owner's rate.
    const from = `${context.get("principal").name} ${requestOf(context).from}`;
    const pace = paces.get(from) ?? new Pace();
    paces.delete(from);
    paces.set(from, pace);
    if (paces.size > ADDRESSES) paces.delete(paces.keys().next().value as string);
    if (pace.next() !== "go")
      return context.json({ error: { code: "busy", message: "Too many requests. Try again." } }, 429);
    context.header("Cache-Control", "no-store");
    return next();
  };
}
