import { createId } from "@banyan/core";
import type { ConversationState, UserPart } from "@banyan/core/conversation";
import { LARGEST_FRAME } from "@banyan/protocol";
import { Client, ClientError, type Watched } from "@banyan/protocol/client";
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { streamSSE } from "hono/streaming";
import { z } from "zod";
import type { Desk } from "../desk/desk.ts";
import { refusalOf } from "../desk/perform.ts";
import { readCommand } from "../desk/read-command.ts";
import { statusOf } from "../http/answers.ts";
import type { HttpEnvironment } from "../http/app.ts";
import { malformed, sending } from "./openai.ts";
import { fileAt, lastOfRun } from "./turn.ts";
import type { UiChunk } from "./ui-chunk.ts";
import { messagesOf } from "./ui-history.ts";
import { UiTurn } from "./ui-turn.ts";

type Request = Context<HttpEnvironment>;

/** Milliseconds without a word after which a stream ends whose turn waits for a person: all that is asked at once is asked. */
const QUIET = 300;

const id = z.string().min(1).max(128);
const part = z.looseObject({
  type: z.string(),
  approval: z.looseObject({ id, approved: z.boolean().optional(), reason: z.string().optional() }).optional(),
});
const message = z.looseObject({ id, role: z.enum(["system", "user", "assistant"]), parts: z.array(part) });
const chatRequest = z.object({
  id,
  messages: z.array(message).min(1),
  trigger: z.enum(["submit-message", "regenerate-message"]).default("submit-message"),
  messageId: id.nullish(),
  model: z.string().min(1).max(200).nullish(),
  answers: z.array(z.object({ question: id, answer: z.unknown() })).nullish(),
});
type Asked = z.infer<typeof chatRequest>;
const saidPart = z.union([
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({
    type: z.literal("file"),
    url: z.string(),
    mediaType: z.string().max(200),
    filename: z.string().optional(),
  }),
]);

/** A conversation that is followed for a request. */
interface Following {
  readonly client: Client;
  readonly watched: Watched;
  /** Rejects when the client is gone. */
  readonly gone: Promise<never>;
}

/**
 * The addresses that the AI SDK's `useChat` speaks to: a chat is a conversation, and each answer is a turn told as a UI
 * message stream. Who leaves does not stop the turn: that has an address of its own.
 */
export function uiMessages(desk: Desk): Hono<HttpEnvironment> {
  const app = new Hono<HttpEnvironment>();
  app.use(async (context, next) => {
    context.header("Cache-Control", "no-store");
    const refused = context.req.method === "POST" && refusalOf("turn.say", context.get("principal"));
    return refused ? failure(context, refused) : next();
  });
  app.onError((error, context) => {
    if (error instanceof ClientError) return failure(context, error);
    throw error;
  });
  const largest = bodyLimit({
    maxSize: LARGEST_FRAME,
    onError: (context) =>
      failure(context, { code: "malformed", message: `A body of more than ${LARGEST_FRAME} bytes is refused.` }),
  });

  app.post("/", largest, async (context) => {
    const { data, error } = chatRequest.safeParse(await context.req.json().catch(() => undefined));
    if (!data) throw malformed(error);
    return following(context, data.id, true, async (followed) => {
      const last = data.messages.at(-1);
      const answers = [...approvalsIn(last), ...(data.answers ?? [])];
      return last?.role === "assistant" && data.trigger === "submit-message"
        ? answerAndGoOn(followed, last.id, answers)
        : begin(followed, data);
    });
  });

  app.get("/:id/stream", (context) =>
    following(context, context.req.param("id"), false, async (followed) => {
      const run = topRun(followed.watched.state);
      return run === undefined ? undefined : takeUp(followed, run);
    }),
  );

  app.post("/:id/stop", async (context) => {
    const client = new Client(desk.link({ principal: context.get("principal") }));
    try {
      return context.json(await client.ask("run.interrupt", { conversation: context.req.param("id") }));
    } finally {
      client.close();
    }
  });

  app.get("/:id", async (context) => {
    const { client, watched } = await follow(context, context.req.param("id"), false);
    try {
      await watched.read();
      return context.json({ messages: messagesOf(watched.state) });
    } finally {
      client.close();
    }
  });

  app.all("*", (context) => failure(context, { code: "not-found", message: "There is nothing at this address." }));

  async function follow(context: Request, conversation: string, makes: boolean): Promise<Following> {
    const gone = Promise.withResolvers<never>();
    gone.promise.catch(() => {}); // Whoever tells a turn is told.
    const client = new Client(desk.link({ principal: context.get("principal") }), {
      changed: (state) => state.phase === "gone" && gone.reject(state.error),
    });
    try {
      if (makes) await client.ask("conversation.create", { conversation });
      return { client, gone: gone.promise, watched: await client.watch(conversation).loaded };
    } catch (error) {
      client.close();
      throw error;
    }
  }

  /** Follows a conversation, and tells the turn that `find` names until it ends or waits; without one, says that there is none. */
  async function following(
    context: Request,
    conversation: string,
    makes: boolean,
    find: (followed: Following) => Promise<Telling | undefined>,
  ): Promise<Response> {
    const followed = await follow(context, conversation, makes);
    const telling = await find(followed).catch((error: unknown) => {
      followed.client.close();
      throw error;
    });
    if (!telling) {
      followed.client.close();
      return context.body(null, 204);
    }
    context.header("x-vercel-ai-ui-message-stream", "v1");
    context.header("X-Accel-Buffering", "no");
    return streamSSE(context, async (stream) => {
      const left = Promise.withResolvers<void>();
      stream.onAbort(() => left.resolve());
      try {
        telling.tellTo(sending(stream, false));
        await Promise.race([telling.over, left.promise, followed.gone]);
      } catch (error) {
        const errorText = error instanceof Error ? error.message : String(error);
        await stream.writeSSE({ data: JSON.stringify({ type: "error", errorText }) });
      } finally {
        telling.stop();
        followed.client.close();
      }
      await stream.writeSSE({ data: "[DONE]" });
    });
  }
  return app;
}

/** A turn that is told to one reader. */
class Telling {
  readonly turn: UiTurn;
  readonly #over = Promise.withResolvers<void>();
  readonly #unfollow: () => void;
  #waiting: UiChunk[] = [];
  #send: ((chunk: UiChunk) => void) | undefined;
  #quiet: NodeJS.Timeout | undefined;

  constructor({ watched }: Following, turn: UiTurn) {
    this.turn = turn;
    this.#over.promise.catch(() => {}); // Whoever reads it is told.
    const lost = () =>
      this.#over.reject(watched.problem ?? new ClientError("failed", "The conversation is not followed any more."));
    this.#unfollow = watched.follow({
      item: (item) => this.tell(turn.take(item)),
      renewed: lost,
      stands: (standing) => standing !== "live" && lost(),
    });
  }

  /** Resolves when nothing follows, or the turn waits for a person. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  tell(chunks: readonly UiChunk[]): void {
    for (const chunk of chunks) this.#send ? this.#send(chunk) : this.#waiting.push(chunk);
    clearTimeout(this.#quiet);
    if (this.turn.isOver) return this.#over.resolve();
    if (this.turn.questions.size === 0) return;
    this.#quiet = setTimeout(() => {
      for (const chunk of this.turn.pause()) this.#send?.(chunk);
      this.#over.resolve();
    }, QUIET);
  }

  tellTo(send: (chunk: UiChunk) => void): void {
    this.#send = send;
    for (const chunk of this.#waiting) send(chunk);
    this.#waiting = [];
  }

  stop(): void {
    clearTimeout(this.#quiet);
    this.#unfollow();
  }
}

async function begin(followed: Following, asked: Asked): Promise<Telling> {
  const { client, watched } = followed;
  const { state, id: conversation } = watched;
  const last = asked.messages.at(-1);
  const how = asked.model ? { model: asked.model } : {};
  const isAgain = asked.trigger === "regenerate-message";
  // A message that is there already is said in other words: beside it.
  const edited = !isAgain && asked.messageId && state.messages.has(asked.messageId) ? asked.messageId : undefined;
  const known = last && state.messages.has(last.id) ? last.id : undefined;
  const command = isAgain || edited || known || !last ? createId() : last.id;
  const telling = new Telling(followed, new UiTurn(command));
  try {
    if (isAgain) {
      const at = asked.messageId && state.messages.has(asked.messageId) ? asked.messageId : known;
      await client.ask("turn.retry", { conversation, ...(at ? { at } : {}), ...how }, command);
      return telling;
    }
    const parts = saidIn(last);
    if (edited) {
      await client.ask("turn.retry", { conversation, at: edited, parts, ...how }, command);
      return telling;
    }
    const before = asked.messages.at(-2);
    const at = before && endOf(state, before.id);
    const { waits } = await client.ask("turn.say", { conversation, parts, ...(at ? { at } : {}), ...how }, command);
    if (!waits) return telling;
    // A run that works there hears it: that one is told.
    const run = topRun(watched.state);
    if (run !== undefined) telling.tell(telling.turn.takeUp(watched.state, run));
    return telling;
  } catch (error) {
    telling.stop();
    throw error;
  }
}

async function answerAndGoOn(
  followed: Following,
  response: string,
  answers: readonly { readonly question: string; readonly answer?: unknown }[],
): Promise<Telling> {
  const { client, watched } = followed;
  await watched.read([...watched.state.messages.keys()].slice(-50));
  const { state, id: conversation } = watched;
  const written = state.messages.get(response);
  if (written?.role !== "assistant")
    throw new ClientError("not-found", "The last message is no response of this conversation, and says nothing new.");
  if (answers.length === 0)
    throw new ClientError(
      "invalid",
      "The last message is a response, and answers no question: there is nothing to do.",
    );
  const open = answers.filter(({ question }) => state.questions.has(question));
  const asking = open
    .map(({ question }) => state.questions.get(question)?.message)
    .find((each) => typeof each === "string");
  const commands = open.map(({ question, answer }) => {
    const { command, error } = readCommand({ type: "question.answer", id: createId(), conversation, question, answer });
    if (error) throw new ClientError(error.code, error.message);
    return command as typeof command & { readonly type: "question.answer" };
  });
  const live = takeUp(followed, written.run, asking ?? lastOfRun(state, written.run) ?? response);
  // Who answers second is told what came of it; the first answer counts.
  for (const { question, answer } of commands)
    await client.ask("question.answer", { conversation, question, answer }).catch((error: unknown) => {
      if (!(error instanceof ClientError && error.code === "not-found")) throw error;
    });
  if (!state.runs.has(written.run)) live.tell([{ type: "finish", messageMetadata: live.turn.metadata }]);
  return live;
}

/** Tells a turn that works, from its beginning or from behind a message that the reader has. */
function takeUp(followed: Following, run: string, behind?: string): Telling {
  const telling = new Telling(followed, new UiTurn(run));
  telling.tell(telling.turn.takeUp(followed.watched.state, run, behind));
  return telling;
}

/** The turn that works where the conversation was last written to, or the newest. */
function topRun({ runs }: ConversationState): string | undefined {
  return [...runs.values()].findLast(({ call }) => call === undefined)?.id;
}

/** Where the next message goes that is said behind one of these: the end of the turn that a response begins. */
function endOf(state: ConversationState, message: string): string {
  const known = state.messages.get(message);
  if (!known)
    throw new ClientError("not-found", `messages: this conversation has no message ${JSON.stringify(message)}.`);
  return known.role === "assistant" ? (lastOfRun(state, known.run) ?? message) : message;
}

function approvalsIn(last: z.infer<typeof message> | undefined) {
  return (last?.parts ?? []).flatMap(({ approval }) => {
    if (approval?.approved === undefined) return [];
    const reason = approval.reason === undefined ? {} : { reason: approval.reason };
    const answer = approval.approved ? { decision: "allow" } : { decision: "deny", ...reason };
    return [{ question: approval.id, answer }];
  });
}

function saidIn(last: z.infer<typeof message> | undefined): UserPart[] {
  if (last?.role !== "user") throw new ClientError("malformed", "messages: the last one must be what a person says.");
  const parts = last.parts.map((given): UserPart => {
    const { data } = saidPart.safeParse(given);
    if (!data)
      throw new ClientError("malformed", `messages: a person cannot say a part ${JSON.stringify(given.type)}.`);
    return data.type === "text" ? { type: "text", text: data.text } : fileAt(data.url, data.mediaType, data.filename);
  });
  if (!parts.some((said) => said.type !== "text" || said.text.trim() !== ""))
    throw new ClientError("malformed", "messages: the last one says nothing.");
  return parts;
}

function failure(
  context: Request,
  { code, message: sentence }: { readonly code: string; readonly message: string },
): Response {
  return context.json({ error: { code, message: sentence } }, statusOf({ code: code as "failed", message: sentence }));
}
