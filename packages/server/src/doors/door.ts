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
import type { Desk } from "@banyan/desk";
import { refusalOf } from "@banyan/desk/serving";
import { type ErrorCode, LARGEST_FRAME, type Problem } from "@banyan/protocol";
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { z } from "zod";
import type { HttpEnvironment } from "../auth/gate.ts";

export type DoorRequest = Context<HttpEnvironment>;

/** The schema of a conversation's or message's id in a request. */
export const doorId = z.string().regex(ID_PATTERN, `expected ${ID_RULE}`).refine(isId, `expected ${ID_RULE}`);

/** HTTP addresses at which programs that use another protocol run turns. */
export interface Door {
  /** The beginning of the door's addresses, such as `/v1`. */
  readonly address: string;
  open(desk: Desk): Hono<HttpEnvironment>;
  /** Describes the addresses as OpenAPI 3.1 paths. The responses are described in docs/doors.md. */
  paths(): Record<string, object>;
  /** Creates the body of a refusal. Default: `{ error: { code, message } }`. */
  refusal?(code: "busy" | "forbidden", message: string): object;
}

type FailureResponder = (
  context: DoorRequest,
  problem: { readonly code: string; readonly message: string },
) => Response;

/**
 * Creates the HTTP app of a door (an HTTP interface of another protocol). Refuses `POST` from clients that can only
 * watch, and limits bodies to the size of a frame. Converts a thrown `ClientError` to the error format of the door's
 * protocol.
 */
export function door(
  failure: FailureResponder,
  addresses: (app: Hono<HttpEnvironment>) => void,
): Hono<HttpEnvironment> {
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
        failure(context, {
          code: "too-large",
          message: `The body is larger than the limit of ${LARGEST_FRAME} bytes.`,
        }),
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
      const message = `This address does not support ${context.req.method}. Use ${methods.join(" or ")}.`;
      return failure(context, { code: "wrong-method", message });
    });
  }
  app.all("*", (context) => failure(context, { code: "not-found", message: "This address does not exist." }));
  return app;
}

/** Writes an error in the default format of doors: `{ error: { code, message } }`. */
export const plainFailure: FailureResponder = (context, { code, message }) =>
  context.json({ error: { code, message } }, doorStatus(code));

const STATUS: Readonly<Record<ErrorCode, ContentfulStatusCode>> = {
  ambiguous: 409,
  busy: 429,
  damaged: 500,
  failed: 500,
  forbidden: 403,
  invalid: 409,
  locked: 409,
  malformed: 400,
  "not-found": 404,
  unconfirmed: 409,
  stopping: 503,
  "unknown-command": 400,
};

/** Returns the HTTP status for the code of a problem. */
export function httpStatus({ code }: Problem): ContentfulStatusCode {
  return code in STATUS ? STATUS[code as ErrorCode] : 500;
}

/** Returns the HTTP status for the code of an error in a door's response. */
export function doorStatus(code: string) {
  if (code === "too-large") return 413;
  return code === "wrong-method" ? 405 : httpStatus({ code: code as "failed", message: "" });
}

/** Parses a request body with a schema. Throws `ClientError`. */
export async function bodyOf<Schema extends z.ZodType>(context: DoorRequest, schema: Schema): Promise<z.infer<Schema>> {
  const { data, error } = schema.safeParse(await context.req.json().catch(() => undefined));
  if (error) throw malformedRequest(error);
  return data;
}

/** Returns the conversation in a request's path. Throws `ClientError`. */
export function conversationInAddress(context: DoorRequest): string {
  const { data, error } = z.object({ id: doorId }).safeParse(context.req.param());
  if (error) throw malformedRequest(error);
  return data.id;
}

function malformedRequest(error: z.ZodError): ClientError {
  const [issue] = error.issues;
  return new ClientError("malformed", `${issue?.path.join(".") || "The body"}: ${issue?.message ?? "is malformed"}.`);
}

/**
 * Reads a user message as the library does (F75). For an empty message, returns an empty list. `where`: the field of
 * the request, for the error message. Throws `ClientError`.
 */
export function partsFrom(content: UserContent, where: string): readonly UserPart[] {
  try {
    return readUserContent(content) ?? [];
  } catch (error) {
    throw error instanceof DirectiveError ? new ClientError("malformed", `${where}: ${error.message}`) : error;
  }
}

const EARLIER = "Earlier messages, from the calling program:";

/** The first lines of texts by `withHistoryTexts`; older logs have the other lines. */
const EARLIER_FORMS = [EARLIER, "What was said before that, as the calling program has it:"];

/** Returns whether a text contains messages from outside the conversation, as `withHistoryTexts` writes them. */
export function isToldBefore(text: string): boolean {
  return EARLIER_FORMS.some((form) => text.startsWith(form));
}

/** A message from outside the conversation, as text. */
export interface HistoryText {
  readonly role: string;
  readonly text: string;
}

/**
 * Appends the program's earlier messages that the conversation does not have, as one text. This text is the last one,
 * because the first text of a message is the user's own.
 */
export function withHistoryTexts(parts: readonly UserPart[], before: readonly HistoryText[]): UserPart[] {
  if (before.length === 0) return [...parts];
  const history = before.map(({ role, text }) => `${role}: ${text}`).join("\n\n");
  return [...parts, { type: "text", text: `${EARLIER}\n\n${history}` }];
}
