import { createId } from "@banyan/core";
import type { Desk } from "@banyan/desk";
import {
  type CommandOutcome,
  type DeskCommand,
  isOfConnection,
  readClientCommand,
  refusalOf,
} from "@banyan/desk/serving";
import {
  CONVERSATIONS,
  type Command,
  type CommandName,
  HITS,
  LARGEST_FRAME,
  LARGEST_OF_WATCHERS,
  type Problem,
} from "@banyan/protocol";
import { type Context, Hono, type MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { type HttpEnvironment, requestOf } from "../auth/gate.ts";
import type { GuestLines } from "../auth/guest-lines.ts";
import { httpStatus } from "../doors/door.ts";
import { cursorFrom, EventStream } from "./event-stream.ts";

const LARGEST_IMPORT = 256 * 1024 * 1024;

/** The functions of the server that the API for scripts uses. */
export interface RestParts {
  readonly desk: Desk;
  readonly streams: Set<EventStream>;
  readonly guests: GuestLines;
  openApi(): object;
  defect(error: unknown): void;
}

const METHODS: Readonly<Record<string, readonly string[]>> = {
  "/commands": ["POST"],
  "/conversations": ["GET", "POST"],
  "/conversations/:id/export": ["GET"],
  "/conversations/:id/feed": ["GET"],
  "/health": ["GET"],
  "/models": ["GET"],
  "/openapi.json": ["GET"],
};

type Request = Context<HttpEnvironment>;

/** Creates the API for scripts: each address carries out a command, or streams the feed. */
export function rest(parts: RestParts, paced: MiddlewareHandler<HttpEnvironment>): Hono<HttpEnvironment> {
  const { desk, streams } = parts;
  const { performer } = desk;
  const app = new Hono<HttpEnvironment>();

  app.use(paced);

  const answer = (context: Request, outcome: CommandOutcome): Response =>
    "error" in outcome ? problem(context, outcome.error) : context.json(outcome.result);

  const perform = async (
    context: Request,
    type: DeskCommand,
    input: object,
    id = createId(),
  ): Promise<CommandOutcome> => {
    const { command, error } = commandFromAddress(type, input, id);
    return command ? performer.perform(command, context.get("principal")) : { error };
  };

  app.get("/openapi.json", (context) => context.json(parts.openApi()));

  // A client that may not send a command must not fill memory with its body (S4).
  const limitedCommand: MiddlewareHandler<HttpEnvironment> = (context, next) =>
    limited(context.get("principal").rights.includes("act") ? LARGEST_FRAME : LARGEST_OF_WATCHERS)(context, next);
  const mayImport: MiddlewareHandler<HttpEnvironment> = async (context, next) => {
    const refused = refusalOf({ type: "conversation.import" }, context.get("principal"));
    return refused ? problem(context, refused) : next();
  };

  app.post("/commands", limitedCommand, async (context) => {
    const { command, error } = readClientCommand(await context.req.json().catch(() => undefined));
    if (!command) return problem(context, error);
    if (!isOfConnection(command)) return answer(context, await performer.perform(command, context.get("principal")));
    if (command.type !== "message.read") {
      const message = `${command.type} needs a WebSocket. GET /api/v1/conversations/ID/feed streams a feed without one.`;
      return context.json({ error: { code: "invalid", message } }, 400);
    }
    const refused = refusalOf(command, context.get("principal"));
    if (refused) return problem(context, refused);
    const read = Promise.withResolvers<object>();
    const outcome = await performer.outcomeOf(async () => {
      const live = await desk.watchable(command.conversation, context.get("principal"));
      await live.read(command.messages, context.get("principal"), undefined, read.resolve);
      return read.promise;
    });
    return answer(context, outcome);
  });

  app.get("/conversations", async (context) => {
    const { query, cwd, limit, programs } = context.req.query();
    const most = limit === undefined ? undefined : Number(limit);
    const all = programs === undefined ? {} : { programs: programs === "true" };
    if (query !== undefined) {
      const bound = most !== undefined && most > HITS && most <= CONVERSATIONS ? HITS : most;
      return answer(context, await perform(context, "conversation.search", { query, cwd, limit: bound, ...all }));
    }
    return answer(context, await perform(context, "conversation.list", { cwd, limit: most, ...all }));
  });

  app.post("/conversations", mayImport, limited(LARGEST_IMPORT), async (context) => {
    const text = await context.req.text();
    return answer(
      context,
      await perform(context, "conversation.import", { text }, context.req.header("idempotency-key")),
    );
  });

  app.get("/conversations/:id/export", async (context) => {
    const { format = "json", leaf } = context.req.query();
    const input = { conversation: context.req.param("id"), format, leaf };
    const outcome = await perform(context, "conversation.export", input);
    if ("error" in outcome) return problem(context, outcome.error);
    const { name, mediaType, text } = outcome.result as { name: string; mediaType: string; text: string };
    context.header("Content-Type", `${mediaType}; charset=utf-8`);
    // A download, not a page: a page of this server could send requests to it.
    context.header("Content-Disposition", attachment(name));
    return context.body(text);
  });

  app.get("/conversations/:id/feed", async (context) => {
    const conversation = context.req.param("id");
    const refused = refusalOf({ type: "feed.subscribe", conversation }, context.get("principal"));
    if (refused) return problem(context, refused);
    const place = context.req.header("last-event-id") ?? context.req.query("from");
    const from = place === undefined ? undefined : cursorFrom(place);
    if (place !== undefined && !from) {
      const message = `from: expected epoch.seq.offset, as in the ids of this stream's events; this is ${JSON.stringify(place.slice(0, 100))}.`;
      return problem(context, { code: "malformed", message });
    }
    const input = { conversation, from, leaf: context.req.query("leaf") };
    const { command, error } = commandFromAddress("feed.subscribe", input);
    if (!command) return problem(context, error);
    const isGuest = !context.get("principal").rights.includes("act");
    const free = isGuest ? parts.guests.take(requestOf(context).from) : () => {};
    if (typeof free === "string") return problem(context, { code: "busy", message: free });
    const stream = new EventStream(context.get("principal"), () => {
      streams.delete(stream);
      free();
    });
    const outcome = await performer.outcomeOf(async () => {
      const live = await desk.watchable(command.conversation, context.get("principal"));
      await stream.watch(live, command.from, command.leaf);
      return {};
    });
    if ("error" in outcome) {
      stream.close();
      return problem(context, outcome.error);
    }
    streams.add(stream);
    context.header("Content-Type", "text/event-stream");
    return context.body(stream.body);
  });

  app.get("/models", async (context) =>
    answer(context, await perform(context, "model.list", { provider: context.req.query("provider") })),
  );

  for (const [path, methods] of Object.entries(METHODS)) {
    app.all(path, (context) => {
      const message = `This address does not support ${context.req.method}. Use ${methods.join(" or ")}.`;
      context.header("Allow", methods.join(", "));
      return context.json({ error: { code: "malformed", message } }, 405);
    });
  }
  app.all("*", (context) => problem(context, { code: "not-found", message: "This address does not exist." }));
  return app;
}

function commandFromAddress<Name extends CommandName>(
  type: Name,
  input: object,
  id = createId(),
): { readonly command: Command<Name>; readonly error?: never } | { readonly command?: never; readonly error: Problem } {
  const fields = Object.entries(input).filter(([, value]) => value !== undefined);
  const { command, error } = readClientCommand({ type, id, ...Object.fromEntries(fields) });
  return command ? { command: command as Command<Name> } : { error };
}

function problem(context: Request, error: Problem): Response {
  return context.json({ error }, httpStatus(error));
}

function limited(maxSize: number) {
  return bodyLimit({
    maxSize,
    onError: (context) =>
      context.json(
        { error: { code: "malformed", message: `The body is larger than the limit of ${maxSize} bytes.` } },
        413,
      ),
  });
}

/** `Content-Disposition` of a download (RFC 6266): the file name, and an ASCII name for clients that know no other. */
function attachment(name: string): string {
  const plain = name.replaceAll(/[^\w.-]/g, "_");
  if (plain === name) return `attachment; filename="${name}"`;
  const whole = encodeURIComponent(name).replaceAll(/['()*]/g, (each) => `%${each.charCodeAt(0).toString(16)}`);
  return `attachment; filename="${plain}"; filename*=UTF-8''${whole}`;
}
