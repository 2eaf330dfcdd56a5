import { ClientError } from "@banyan/client";
import { lastMessageOfTurn, newestTurn, openRun } from "@banyan/client/display";
import { createId } from "@banyan/core";
import type { UserPart } from "@banyan/core/conversation";
import type { Desk } from "@banyan/desk";
import type { Hono } from "hono";
import { z } from "zod";
import type { HttpEnvironment } from "../../auth/gate.ts";
import {
  bodyOf,
  conversationInAddress,
  type Door,
  type DoorRequest,
  door,
  doorId as id,
  partsFrom,
  plainFailure,
} from "../door.ts";
import { described, OR_NOTHING, posted } from "../route-description.ts";
import {
  beginTurnStream,
  type DoorWatch,
  followConversation,
  giveAnswers,
  stopConversation,
  streamTurnEvents,
  TurnStream,
  turnEndBehind,
} from "../turn-stream.ts";
import type { UiChunk } from "./chunk.ts";
import { uiHistory } from "./history.ts";
import { UiTurn } from "./turn.ts";

const part = z.looseObject({
  type: z.string(),
  approval: z.looseObject({ id, approved: z.boolean().optional(), reason: z.string().optional() }).optional(),
});
const message = z.looseObject({ id, role: z.enum(["system", "user", "assistant"]), parts: z.array(part) });
const uiRequest = z.object({
  id,
  messages: z.array(message).min(1),
  trigger: z.enum(["submit-message", "regenerate-message"]).default("submit-message"),
  messageId: id.nullish(),
  model: z.string().min(1).max(200).nullish(),
  answers: z.array(z.object({ question: id, answer: z.unknown() })).nullish(),
});
const STREAM = "the AI SDK's `useChat` (UI message stream 1)";

type UiRequest = z.infer<typeof uiRequest>;

/**
 * The addresses for the AI SDK's `useChat`. A chat is a conversation, and each answer is a turn as a UI message stream.
 * Disconnecting does not stop the turn; a separate address does.
 */
export const uiMessages: Door = {
  address: "/api/chat",
  open,
  paths: () => ({
    "/api/chat": { post: posted("uiChat", `Runs a turn for a request of ${STREAM}.`, uiRequest) },
    "/api/chat/{id}": {
      get: described("uiMessages", `Returns the current branch of a conversation, as messages of ${STREAM}.`),
    },
    "/api/chat/{id}/stream": { get: described("uiStream", "Streams the running turn from its beginning.", OR_NOTHING) },
    "/api/chat/{id}/stop": { post: described("uiStop", "Interrupts the turns of a conversation.") },
  }),
};

function open(desk: Desk): Hono<HttpEnvironment> {
  const stream = (
    context: DoorRequest,
    conversation: string,
    makes: boolean,
    find: (followed: DoorWatch) => Promise<TurnStream<UiChunk> | undefined>,
  ) => streamTurn(context, followConversation(desk, context.get("principal"), conversation, { makes }), find);
  return door(plainFailure, (app) => {
    app.post("/", async (context) => {
      const request = await bodyOf(context, uiRequest);
      return stream(context, request.id, true, async (followed) => {
        const last = request.messages.at(-1);
        const answers = [...approvalsIn(last), ...(request.answers ?? [])];
        return last?.role === "assistant" && request.trigger === "submit-message"
          ? answerUiTurn(followed, last.id, answers)
          : beginUiTurn(followed, request);
      });
    });

    app.get("/:id/stream", (context) =>
      stream(context, conversationInAddress(context), false, async (followed) => {
        const run = newestTurn(followed.watched.state);
        return run === undefined ? undefined : takeUp(followed, run);
      }),
    );

    app.post("/:id/stop", async (context) =>
      context.json(await stopConversation(desk, context.get("principal"), conversationInAddress(context))),
    );

    app.get("/:id", async (context) => {
      const { client, watched } = await followConversation(
        desk,
        context.get("principal"),
        conversationInAddress(context),
      );
      try {
        await watched.read();
        return context.json({ messages: uiHistory(watched.state) });
      } finally {
        client.close();
      }
    });
  });
}

/** Sends the turn that `find` returns until it ends or waits. Answers 204 without a turn. */
async function streamTurn(
  context: DoorRequest,
  following: Promise<DoorWatch>,
  find: (followed: DoorWatch) => Promise<TurnStream<UiChunk> | undefined>,
): Promise<Response> {
  const followed = await following;
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
  const problem = (errorText: string): UiChunk => ({ type: "error", errorText });
  return streamTurnEvents(context, followed, telling, { problem, last: "[DONE]" });
}

async function beginUiTurn(followed: DoorWatch, request: UiRequest): Promise<TurnStream<UiChunk>> {
  const { client, watched } = followed;
  const { state, id: conversation } = watched;
  const last = request.messages.at(-1);
  const how = request.model ? { model: request.model } : {};
  const isAgain = request.trigger === "regenerate-message";
  // An edited message becomes a sibling of the original.
  const edited = !isAgain && request.messageId && state.messages.has(request.messageId) ? request.messageId : undefined;
  const known = last && state.messages.has(last.id) ? last.id : undefined;
  const command = isAgain || edited || known || !last ? createId() : last.id;
  const telling = new TurnStream(followed, new UiTurn(command));
  return beginTurnStream(followed, telling, async () => {
    if (isAgain) {
      const at = request.messageId && state.messages.has(request.messageId) ? request.messageId : known;
      await client.ask("turn.retry", { conversation, ...(at ? { at } : {}), ...how }, command);
      return {};
    }
    const parts = uiUserParts(last);
    if (edited) {
      await client.ask("turn.retry", { conversation, at: edited, parts, slash: true, ...how }, command);
      return {};
    }
    const before = request.messages.slice(0, -1).findLast((each) => !isQuestion(each));
    const at = before && turnEndBehind(state, before.id);
    return client.ask("turn.say", { conversation, parts, slash: true, ...(at ? { at } : {}), ...how }, command);
  });
}

async function answerUiTurn(
  followed: DoorWatch,
  response: string,
  answers: readonly { readonly question: string; readonly answer?: unknown }[],
): Promise<TurnStream<UiChunk>> {
  const { watched } = followed;
  await watched.read([...watched.state.messages.keys()].slice(-50));
  const { state } = watched;
  const written = state.messages.get(response);
  // A question before the first response, such as one about an oversized message, is in a page-only message.
  const asked = answers.map(({ question }) => state.questions.get(question)).find((open) => open?.type === "limit");
  const run = written?.role === "assistant" ? written.run : asked?.type === "limit" ? asked.run : undefined;
  if (run === undefined)
    throw new ClientError(
      "not-found",
      "The last message is not a response of this conversation and contains no new input.",
    );
  if (answers.length === 0)
    throw new ClientError(
      "invalid",
      "The last message is a response that answers no open question. Send a user message, or an answer to an open question.",
    );
  const { asking, give } = giveAnswers(followed, answers);
  const live = takeUp(followed, run, asking ?? lastMessageOfTurn(state, run) ?? response);
  await give();
  if (!openRun(state, run) && !live.turn.read.isOver) live.end(live.turn.pause());
  return live;
}

function takeUp(followed: DoorWatch, run: string, behind?: string): TurnStream<UiChunk> {
  const telling = new TurnStream(followed, new UiTurn(run));
  telling.takeUp(run, behind);
  return telling;
}

/** Returns true if a page's message has only questions. The response after these questions never came. */
function isQuestion({ role, parts }: z.infer<typeof message>): boolean {
  return role === "assistant" && parts.every(({ type }) => type === "data-question");
}

function approvalsIn(last: z.infer<typeof message> | undefined) {
  return (last?.parts ?? []).flatMap(({ approval }) => {
    if (approval?.approved === undefined) return [];
    const reason = approval.reason === undefined ? {} : { reason: approval.reason };
    const answer = approval.approved ? { decision: "allow" } : { decision: "deny", ...reason };
    return [{ question: approval.id, answer }];
  });
}

function uiUserParts(last: z.infer<typeof message> | undefined): readonly UserPart[] {
  if (last?.role !== "user") throw new ClientError("malformed", "messages: the last one must be a user message.");
  const parts = partsFrom({ role: "user", parts: last.parts }, "messages");
  if (parts.length === 0) throw new ClientError("malformed", "messages: the last one is empty.");
  return parts;
}
