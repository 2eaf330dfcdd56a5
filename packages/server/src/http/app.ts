import { pieceOfAddress } from "@banyan/core/conversation";
import type { HttpBindings } from "@hono/node-server";
import { type Context, Hono, type MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { deleteCookie, setCookie } from "hono/cookie";
import { parseAccept } from "hono/utils/accept";
import { type Gate, knockOf, type Refusal } from "../auth/gate.ts";
import { SIGNED_IN } from "../auth/signed-in-page.ts";
import type { Only, Principal } from "../desk/principal.ts";
import { agUi } from "../doors/ag-ui.ts";
import { openAi } from "../doors/openai.ts";
import { errorOf } from "../doors/openai-words.ts";
import { uiMessages } from "../doors/ui-messages.ts";
import { Pace } from "../socket/pace.ts";
import { noticePage } from "./answers.ts";
import type { PageFile } from "./page-files.ts";
import { type RestParts, rest } from "./rest.ts";

/** Bytes of what a page says to sign in. */
const LARGEST_SIGN_IN = 10_000;

const COOKIE = { httpOnly: true, sameSite: "Strict", path: "/" } as const;

/** Where the page to sign in says why somebody has to. */
const WHY = "<!-- why -->";

const NOT_BUILT = "The page was not built: run npm run build, and start the server again.";

/** What a request brings along, once it was let in. */
export interface HttpEnvironment {
  Bindings: HttpBindings;
  Variables: { principal: Principal };
}

/** What HTTP needs of the server. */
export interface HttpParts extends RestParts {
  readonly gate: Gate;
  readonly page: ReadonlyMap<string, PageFile>;
  /** Whether a balancer may send clients here. */
  isReady(): Promise<boolean>;
  /** Clients are to come again by another connection: a balancer leads it to another server. */
  isStopping(): boolean;
  /** The name of the cookie that signs a page in. */
  cookie(): string;
}

/** Everything of the server that is not a socket: the page, and addresses for scripts. */
export function httpApp(parts: HttpParts): Hono<HttpEnvironment> {
  const { gate, log } = parts;
  const app = new Hono<HttpEnvironment>();

  /** Where a person signs in, with a sentence that says why they have to. */
  const signInPage = (context: Context<HttpEnvironment>, status: 200 | Refusal["status"], why = ""): Response => {
    const file = parts.page.get("/sign-in.html");
    context.header("Cache-Control", "no-store");
    return context.html(file ? String(file.bytes()).replace(WHY, why) : noticePage(why || NOT_BUILT), status);
  };

  const refuse = (context: Context<HttpEnvironment>, { status, message }: Refusal): Response => {
    const { socket } = context.env.incoming;
    // The path only: what stands behind it may be a token.
    log(`${socket.remoteAddress}: refused ${context.req.method} ${context.req.path.slice(0, 200)}: ${message}`);
    if (status === 401) context.header("WWW-Authenticate", "Bearer");
    const wantsPage = context.req.header("accept")?.includes("text/html") ?? false;
    const code = status === 429 ? "busy" : "forbidden";
    // Who speaks OpenAI's formats reads problems in them.
    if (context.req.path.startsWith("/v1/")) return context.json(errorOf(code, message), status);
    if (!wantsPage) return context.json({ error: { code, message } }, status);
    // Whoever may not be here at all is not asked for a token.
    return status === 421 ? context.html(noticePage(message), status) : signInPage(context, status, message);
  };

  // For a balancer, which knows neither names nor tokens; they tell nothing else.
  app.get("/healthz", (context) => context.text("ok\n"));
  app.get("/readyz", async (context) =>
    (await parts.isReady()) ? context.text("ready\n") : context.text("not ready\n", 503),
  );

  app.use(async (context, next) => {
    const knock = knockOf(context.env.incoming);
    for (const [name, value] of Object.entries(securityHeaders(knock.header("host") ?? "")))
      context.header(name, value);
    if (parts.isStopping()) context.header("Connection", "close");
    const stranger = gate.stranger(knock, context.req.path === FRAME);
    return stranger ? refuse(context, stranger) : next();
  });

  app.get("/api/v1/health", (context) => context.json(parts.health()));

  // The one address that takes a token; the page goes on with one that is good once, behind the # that no request holds (S3).
  app.get("/", async (context, next) => {
    const token = context.req.query("token");
    if (token === undefined) return next();
    const exchanged = gate.exchange(token, knockOf(context.env.incoming));
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
    const page = gate.signIn(token, knockOf(context.env.incoming));
    context.header("Cache-Control", "no-store");
    if ("stays" in page) return context.json({ path: pathOf(page.stays) });
    if (!("key" in page)) return refuse(context, page);
    setCookie(context, parts.cookie(), page.cookie, { ...COOKIE, maxAge: SIGNED_IN });
    const { rights, only } = page.principal;
    return context.json({ key: page.key, rights, ...(only && { path: pathOf(only) }) });
  });

  // Only the browser that asks forgets its cookie: nothing is kept here.
  app.post("/api/v1/sign-out", (context) => {
    deleteCookie(context, parts.cookie(), COOKIE);
    return context.json({});
  });

  // Whether there is still a page behind a cookie, for one that lost its connection: a socket does not tell why it was refused.
  app.get("/api/v1/page", (context) => {
    const page = gate.page(knockOf(context.env.incoming));
    context.header("Cache-Control", "no-store");
    return context.json({ signedIn: page !== undefined });
  });

  for (const programs of ["/api/*", "/v1/*"])
    app.use(programs, async (context, next) => {
      const verdict = gate.judge(knockOf(context.env.incoming));
      if (!verdict.ok) return refuse(context, verdict);
      if (verdict.principal.only && !BY_LINK.test(context.req.path)) return refuse(context, NOT_BY_LINK);
      context.set("principal", verdict.principal);
      return next();
    });

  const paced = pacing();
  app.route("/api/v1", rest(parts, paced));
  app.use("/v1/*", paced);
  app.route("/v1", openAi(parts.desk));
  app.use("/api/ag-ui/*", paced);
  app.route("/api/ag-ui", agUi(parts.desk));
  app.use("/api/chat/*", paced);
  app.route("/api/chat", uiMessages(parts.desk));

  // The page without what it shows, which comes over its socket. Its files are those that everybody has who installed it.
  app.get("*", (context) => {
    const { path } = context.req;
    const file = parts.page.get(path);
    if (file && path === FRAME) {
      for (const [name, value] of Object.entries(FRAME_HEADERS)) context.header(name, value);
      return sendFile(context, file);
    }
    if (file && !path.endsWith(".html")) return sendFile(context, file);
    if (path === "/sign-in") return signInPage(context, 200);
    const verdict = gate.judgePage(knockOf(context.env.incoming));
    if (!verdict.ok) return refuse(context, verdict);
    const isView = path === "/" || path === "/design" || path.startsWith("/c/");
    const index = parts.page.get("/index.html");
    if (isView && index) return sendFile(context, index);
    return context.html(noticePage(isView ? NOT_BUILT : "There is nothing here."), 404);
  });

  app.onError((error, context) => {
    parts.defect(error);
    const message = "Internal server error. The server's log has the details.";
    return context.json({ error: { code: "failed", message } }, 500);
  });
  return app;
}

/** What is there for who has a link (S29); what is no command or feed of the one conversation is refused there. */
const BY_LINK = /^\/api\/v1\/(commands|conversations\/[^/]+\/feed)$/;
const NOT_BY_LINK: Refusal = {
  ok: false,
  status: 403,
  message: "This link only shows one conversation.",
};

/** Where the page shows what a link shows. */
function pathOf({ conversation, leaf }: Only): string {
  const path = `/c/${pieceOfAddress(conversation)}`;
  return leaf === undefined ? path : `${path}?leaf=${encodeURIComponent(JSON.stringify(leaf))}`;
}

/** Sends a file in the best of its codings that the browser takes (W78). */
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

/** The content codings that a browser takes. */
function accepted(context: Context): readonly string[] {
  const all = parseAccept(context.req.header("Accept-Encoding") ?? "");
  return all.flatMap(({ type, q }) => (q > 0 ? [type] : []));
}

/**
 * What every answer says about itself: scripts and styles of this server only, no inline script, nothing from other hosts
 * (so that an answer of a model cannot make the page send anything anywhere, S12), shown in no other page, and of no use to
 * one that loads it as a script or a picture or that opened its window (S20).
 */
function securityHeaders(host: string): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    // Libraries that lay out lists set styles of elements; a style cannot load anything under this policy.
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

/** The document in which the page runs what a model wrote (W61). */
const FRAME = "/frame.html";

/**
 * What holds for it, and for all that is written into it: it is of an origin that nobody else is of, and so has no cookies, no
 * storage and no hold of the page; it loads nothing, sends nothing and opens nothing. `Connection-Allowlist` closes what a content
 * security policy leaves open: connections between browsers, and names that are looked up ahead. The frame itself tries whether a
 * browser knows it, and scripts run in no other.
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

/** Addresses whose pace is remembered. */
const ADDRESSES = 1_000;

/** Holds back whoever asks too fast, at whatever address for programs; what they get is kept by nobody. */
function pacing(): MiddlewareHandler<HttpEnvironment> {
  const paces = new Map<string, Pace>();
  return async (context, next) => {
    // A guest on the owner's machine does not use up what the owner may ask.
    const from = `${context.get("principal").name} ${context.env.incoming.socket.remoteAddress}`;
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
