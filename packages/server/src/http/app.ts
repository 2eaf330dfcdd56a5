import type { HttpBindings } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { setCookie } from "hono/cookie";
import type { Gate, Verdict } from "../auth/gate.ts";
import { knockOf } from "../auth/knock.ts";
import type { Principal } from "../auth/principal.ts";
import { noticePage } from "./answers.ts";
import { securityHeaders } from "./headers.ts";
import type { PageFile } from "./page-files.ts";
import { type RestParts, rest } from "./rest.ts";

/** Seconds for which a browser stays signed in. */
const SIGNED_IN = 30 * 24 * 60 * 60;

/** What a request brings along, once it was let in. */
export interface HttpEnvironment {
  Bindings: HttpBindings;
  Variables: { principal: Principal };
}

/** What HTTP needs of the server. */
export interface HttpParts extends RestParts {
  readonly gate: Gate;
  readonly page: ReadonlyMap<string, PageFile>;
  /** The name of the cookie that signs a page in. */
  cookie(): string;
}

/** Everything of the server that is not a socket: the page, and addresses for scripts. */
export function httpApp(parts: HttpParts): Hono<HttpEnvironment> {
  const { gate, log } = parts;
  const app = new Hono<HttpEnvironment>();

  app.use(async (context, next) => {
    const knock = knockOf(context.env.incoming, false);
    const stranger = gate.stranger(knock);
    if (stranger) return refuse(context, stranger, log);
    for (const [name, value] of Object.entries(securityHeaders(knock.header("host") ?? "")))
      context.header(name, value);
    return next();
  });

  app.get("/api/v1/health", (context) => context.json(parts.health()));

  // The one address that takes a token: it is exchanged for a cookie, and gone from the address (S3).
  app.get("/", async (context, next) => {
    const token = context.req.query("token");
    if (token === undefined) return next();
    const signedIn = gate.signIn(token, knockOf(context.env.incoming, false));
    if (!("secret" in signedIn)) return refuse(context, signedIn, log);
    setCookie(context, parts.cookie(), signedIn.secret, {
      httpOnly: true,
      sameSite: "Strict",
      path: "/",
      maxAge: SIGNED_IN,
    });
    context.header("Cache-Control", "no-store");
    return context.redirect("/", 303);
  });

  app.use(async (context, next) => {
    const verdict = gate.judge(knockOf(context.env.incoming, false));
    if (!verdict.ok) return refuse(context, verdict, log);
    context.set("principal", verdict.principal);
    return next();
  });

  app.route("/api/v1", rest(parts));

  app.get("*", (context) => {
    const { path } = context.req;
    const file = parts.page.get(path);
    if (file) return sendFile(context, file);
    const index = parts.page.get("/index.html");
    const isView = path === "/" || path.startsWith("/c/");
    if (isView && index) return sendFile(context, index);
    const why = isView
      ? "The page was not built: run npm run build, and start the server again."
      : "There is nothing here.";
    return context.html(noticePage(why), 404);
  });

  app.onError((error, context) => {
    parts.defect(error);
    const message = "Something went wrong inside the server; its log says what.";
    return context.json({ error: { code: "failed", message } }, 500);
  });
  return app;
}

function sendFile(context: Context<HttpEnvironment>, file: PageFile): Response {
  context.header("Content-Type", file.type);
  context.header("Cache-Control", file.forever ? "public, max-age=31536000, immutable" : "no-cache");
  return context.body(new Uint8Array(file.bytes()));
}

function refuse(
  context: Context<HttpEnvironment>,
  { status, message }: Extract<Verdict, { ok: false }>,
  log: (line: string) => void,
): Response {
  const { socket } = context.env.incoming;
  // The path only: what stands behind it may be a token.
  log(`${socket.remoteAddress}: refused ${context.req.method} ${context.req.path.slice(0, 200)}: ${message}`);
  if (status === 401) context.header("WWW-Authenticate", "Bearer");
  const wantsPage = context.req.header("accept")?.includes("text/html") ?? false;
  if (wantsPage) return context.html(noticePage(message), status);
  return context.json({ error: { code: status === 429 ? "busy" : "forbidden", message } }, status);
}
