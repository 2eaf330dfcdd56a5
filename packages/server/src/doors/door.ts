import { ClientError } from "@banyan/client";
import {
  DirectiveError,
  ID_PATTERN,
  ID_RULE,
  isId,
  readUserContent,
  type UserContent,
  type UserPart,
} from "@banyan/core/conversation";
import { LARGEST_FRAME } from "@banyan/protocol";
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { z } from "zod";
import { refusalOf } from "../desk/perform.ts";
import { statusOf } from "../http/answers.ts";
import type { HttpEnvironment } from "../http/app.ts";

export type DoorRequest = Context<HttpEnvironment>;

/** A conversation or a message, as a program names it. */
export const doorId = z.string().regex(ID_PATTERN, `expected ${ID_RULE}`).refine(isId, `expected ${ID_RULE}`);

/** How a door says that something went wrong, in the form of those who speak to it. */
type Failure = (context: DoorRequest, problem: { readonly code: string; readonly message: string }) => Response;

/**
 * A door: addresses at which programs of another protocol take turns. Whoever may only watch is refused where something
 * would be done, a body is no larger than a frame, and what is thrown as a `ClientError` is told in the door's own form.
 */
export function door(failure: Failure, addresses: (app: Hono<HttpEnvironment>) => void): Hono<HttpEnvironment> {
  const app = new Hono<HttpEnvironment>();
  app.use(async (context, next) => {
    context.header("Cache-Control", "no-store");
    const refused = context.req.method === "POST" && refusalOf({ type: "turn.say" }, context.get("principal"));
    return refused ? failure(context, refused) : next();
  });
  app.use(
    bodyLimit({
      maxSize: LARGEST_FRAME,
      onError: (context) =>
        failure(context, { code: "too-large", message: `A body of more than ${LARGEST_FRAME} bytes is refused.` }),
    }),
  );
  app.onError((error, context) => {
    if (error instanceof ClientError) return failure(context, error);
    throw error;
  });
  addresses(app);
  const taken = app.routes.filter(({ method }) => method !== "ALL");
  for (const [path, routes] of Map.groupBy(taken, (route) => route.path)) {
    const methods = routes.map(({ method }) => method);
    app.all(path, (context) => {
      context.header("Allow", methods.join(", "));
      const message = `${context.req.method} means nothing at this address; it takes ${methods.join(" and ")}.`;
      return failure(context, { code: "wrong-method", message });
    });
  }
  app.all("*", (context) => failure(context, { code: "not-found", message: "There is nothing at this address." }));
  return app;
}

/** The usual form of a problem. */
export const plainFailure: Failure = (context, { code, message }) =>
  context.json({ error: { code, message } }, doorStatus(code));

/** The HTTP status of a problem at a door. */
export function doorStatus(code: string) {
  if (code === "too-large") return 413;
  return code === "wrong-method" ? 405 : statusOf({ code: code as "failed", message: "" });
}

/** The body of a request as a schema has it. Throws `ClientError`. */
export async function bodyOf<Schema extends z.ZodType>(context: DoorRequest, schema: Schema): Promise<z.infer<Schema>> {
  const { data, error } = schema.safeParse(await context.req.json().catch(() => undefined));
  if (error) throw malformed(error);
  return data;
}

/** The conversation that an address is about. Throws `ClientError`. */
export function conversationIn(context: DoorRequest): string {
  const { data, error } = z.object({ id: doorId }).safeParse(context.req.param());
  if (error) throw malformed(error);
  return data.id;
}

/** What is wrong with something that came. */
function malformed(error: z.ZodError): ClientError {
  const [issue] = error.issues;
  return new ClientError("malformed", `${issue?.path.join(".") || "The body"}: ${issue?.message ?? "is malformed"}.`);
}

/**
 * What a user says at a door, as the library reads it (F75); nothing for an empty message. `where`: the place of the content
 * in the request, for the refusal. Throws `ClientError`, which names the field.
 */
export function partsFrom(content: UserContent, where: string): readonly UserPart[] {
  try {
    return readUserContent(content) ?? [];
  } catch (error) {
    throw error instanceof DirectiveError ? new ClientError("malformed", `${where}: ${error.message}`) : error;
  }
}

/** How the text of a message begins that says what went before it elsewhere. */
export const TOLD_BEFORE = "What was said before that, as the calling program has it:";

/** Something that was said elsewhere. */
export interface SaidElsewhere {
  readonly role: string;
  readonly text: string;
}

/**
 * What a person says, with what the calling program says went before it, which no message of the conversation says: as one
 * text behind, since the first text of a message is what a person typed.
 */
export function withToldBefore(parts: readonly UserPart[], before: readonly SaidElsewhere[]): UserPart[] {
  if (before.length === 0) return [...parts];
  const told = before.map(({ role, text }) => `${role}: ${text}`).join("\n\n");
  return [...parts, { type: "text", text: `${TOLD_BEFORE}\n\n${told}` }];
}
