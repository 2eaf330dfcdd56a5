import { ClientError } from "@banyan/client";
import { lastMessageOfTurn, newestTurn } from "@banyan/client/display";
import { createId } from "@banyan/core";
import { type ConversationState, ID_RULE, type PlainPart, type UserPart } from "@banyan/core/conversation";
import type { Desk } from "@banyan/desk";
import type { ClientTool } from "@banyan/protocol";
import type { Hono } from "hono";
import { z } from "zod";
import type { HttpEnvironment } from "../../auth/gate.ts";
import {
  bodyOf,
  conversationInAddress,
  type Door,
  door,
  type HistoryText,
  doorId as id,
  partsFrom,
  plainFailure,
  withHistoryTexts,
} from "../door.ts";
import { described, posted } from "../route-description.ts";
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
import { resumeAnswer, resumeEntry } from "./answers.ts";
import { AG_UI_VERSION, type AgUiEvent } from "./event.ts";
import { agUiHistory, ownMessageId } from "./tree.ts";
import { type AgUiRun, AgUiTurn } from "./turn.ts";

const message = z.looseObject({
  id: z.string().min(1).max(300),
  role: z.string().max(50),
  content: z.unknown().optional(),
});
const runInput = z.object({
  threadId: id,
  runId: z.string().min(1).max(200),
  parentRunId: z.string().max(200).optional(),
  protocolVersion: z.string().max(50).optional(),
  state: z.unknown().optional(),
  messages: z.array(message),
  tools: z
    .array(
      z.object({
        name: z.string().regex(/^[\w-]{1,64}$/, "expected 1 to 64 letters, digits, _ and -"),
        description: z.string().max(10_000).default(""),
        parameters: z.record(z.string(), z.json()).default({}),
      }),
    )
    .max(128)
    .default([]),
  context: z.array(z.object({ description: z.string(), value: z.string() })).default([]),
  forwardedProps: z.unknown().optional(),
  resume: z.array(resumeEntry).default([]),
});
type AgUiRunInput = z.infer<typeof runInput>;
type AgUiInputMessage = z.infer<typeof message>;

const own = z.object({
  banyan: z.object({
    at: id.optional(),
    model: z.string().min(1).max(200).optional(),
  }),
});

const source = z.discriminatedUnion("type", [
  z.object({ type: z.literal("data"), value: z.string(), mimeType: z.string().max(200) }),
  z.object({ type: z.literal("url"), value: z.string(), mimeType: z.string().max(200).optional() }),
  // A file handle at a provider, which only that provider can read.
  z.object({ type: z.literal("file") }),
]);
const part = z.union([
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.enum(["image", "audio", "video", "document"]), source }),
]);
const content = z.union([z.string().transform((text) => [{ type: "text" as const, text }]), z.array(part)]);

/**
 * The addresses for programs of AG-UI 1.0. A thread is a conversation, and each run streams a turn. Disconnecting does
 * not stop the turn; a separate address does.
 */
export const agUi: Door = {
  address: "/api/ag-ui",
  open,
  paths: () => ({
    "/api/ag-ui": { post: posted("agUiRun", "Runs a turn for a run of AG-UI 1.0.", runInput) },
    "/api/ag-ui/{id}/stop": {
      post: described("agUiStop", "Interrupts the turns of a thread (a conversation)."),
    },
  }),
};

function open(desk: Desk): Hono<HttpEnvironment> {
  return door(plainFailure, (app) => {
    app.post("/", async (context) => {
      const input = await bodyOf(context, runInput);
      checkVersion(input.protocolVersion);
      const followed = await followConversation(desk, context.get("principal"), input.threadId, { makes: true });
      const telling = await findAgUiTurn(followed, input).catch((error: unknown) => {
        followed.client.close();
        throw error;
      });
      context.header("X-Accel-Buffering", "no");
      const problem = (sentence: string): AgUiEvent => ({ type: "RUN_ERROR", message: sentence, code: "failed" });
      return streamTurnEvents(context, followed, telling, { problem });
    });

    app.post("/:id/stop", async (context) =>
      context.json(await stopConversation(desk, context.get("principal"), conversationInAddress(context))),
    );
  });
}

function checkVersion(version: string | undefined): void {
  const [major = ""] = AG_UI_VERSION.split(".");
  if (version === undefined || version.split(".")[0] === major || !/^\d+(\.\d+)*$/.test(version)) return;
  const sentence = `protocolVersion: this server speaks AG-UI ${AG_UI_VERSION}, and ${version} is not compatible.`;
  throw new ClientError("malformed", sentence);
}

async function findAgUiTurn(followed: DoorWatch, input: AgUiRunInput): Promise<TurnStream<AgUiEvent>> {
  const { watched } = followed;
  await watched.read([...watched.state.messages.keys()].slice(-200));
  const last = input.messages.at(-1);
  const said = last?.role === "user" ? last : undefined;
  const answers = [...answersIn(input, watched.state), ...clientResults(input, watched.state)];
  if (answers.length > 0) return answerAgUiTurn(followed, input, answers);
  return said ? beginAgUiTurn(followed, input, said) : joinAgUiTurn(followed, input);
}

/** The protocol requires that entries for unknown interrupts are ignored. */
function answersIn({ resume }: AgUiRunInput, state: ConversationState) {
  return resume.flatMap((entry) => {
    const question = state.questions.get(entry.interruptId);
    return question ? [resumeAnswer(entry, question.type)] : [];
  });
}

function clientResults({ messages }: AgUiRunInput, state: ConversationState) {
  const results = messages.slice(messages.findLastIndex(({ role }) => role !== "tool") + 1);
  return results.flatMap((each) => {
    const open = [...state.questions.values()].find(
      (question) => question.type === "text" && question.call === each.toolCallId,
    );
    return open ? [{ question: open.id, answer: { decision: "answer", text: agUiText(each) } }] : [];
  });
}

function telling(
  followed: DoorWatch,
  run: AgUiRun,
  command?: string,
): TurnStream<AgUiEvent> & { readonly turn: AgUiTurn } {
  return new TurnStream(followed, new AgUiTurn(run, () => followed.watched.state, command)) as TurnStream<AgUiEvent> & {
    readonly turn: AgUiTurn;
  };
}

async function beginAgUiTurn(
  followed: DoorWatch,
  input: AgUiRunInput,
  said: AgUiInputMessage,
): Promise<TurnStream<AgUiEvent>> {
  const { client, watched } = followed;
  const { state, id: conversation } = watched;
  const { at: named, model } = propsOf(input);
  const tools = toolsIn(input);
  const how = { ...(model === undefined ? {} : { model }), ...(tools.length > 0 ? { tools } : {}) };
  const { error } = id.safeParse(said.id);
  if (error) throw new ClientError("malformed", `messages: the id of the last one must be ${ID_RULE}.`);
  const isKnown = state.messages.has(said.id);
  const command = isKnown ? createId() : said.id;
  return beginTurnStream(followed, telling(followed, input, command), async () => {
    if (isKnown) {
      await client.ask("turn.retry", { conversation, at: said.id, ...how }, command);
      return {};
    }
    const { at, before } = placeInHistory(state, input, named);
    const context = input.context.map(({ description, value }) => ({ role: description, text: value }));
    const parts = withHistoryTexts(partsIn(said), [...context, ...before]);
    return client.ask(
      "turn.say",
      { conversation, parts, slash: true, ...(at === undefined ? {} : { at }), ...how },
      command,
    );
  });
}

async function answerAgUiTurn(
  followed: DoorWatch,
  input: AgUiRunInput,
  answers: ReturnType<typeof resumeAnswer>[],
): Promise<TurnStream<AgUiEvent>> {
  const { state } = followed.watched;
  const { asking, run, give } = giveAnswers(followed, answers, toolsIn(input));
  const live = telling(followed, input, run);
  if (run !== undefined) live.takeUp(run, asking ?? lastMessageOfTurn(state, run));
  await give();
  if (run === undefined) live.end(live.turn.nothing());
  return live;
}

/** Without new input: sends the existing messages and the running turn. */
async function joinAgUiTurn(followed: DoorWatch, input: AgUiRunInput): Promise<TurnStream<AgUiEvent>> {
  const { watched } = followed;
  await watched.read();
  const run = newestTurn(watched.state);
  const { at } = propsOf(input);
  const leaf = at === undefined ? watched.state.leaf : turnEndBehind(watched.state, at);
  const messages = agUiHistory(watched.state, leaf, run);
  const live = telling(followed, { ...input, messages }, run);
  if (run === undefined) live.end(live.turn.nothing());
  else live.takeUp(run);
  return live;
}

function toolsIn({ tools }: AgUiRunInput): ClientTool[] {
  return tools.map(({ name, description, parameters }) => ({ name, description, input: parameters }));
}

function propsOf({ forwardedProps }: AgUiRunInput): {
  readonly at?: string | undefined;
  readonly model?: string | undefined;
} {
  if (typeof forwardedProps !== "object" || forwardedProps === null || !("banyan" in forwardedProps)) return {};
  const { data, error } = own.safeParse(forwardedProps);
  if (error) {
    const [issue] = error.issues;
    throw new ClientError("malformed", `forwardedProps.${issue?.path.join(".")}: ${issue?.message}.`);
  }
  return data.banyan;
}

/**
 * Returns the place for a new message: below the named message, the end of the named run (`parentRunId`), or the
 * program's last message that the conversation has. Default: where the conversation was last written. `before` holds
 * the program's later messages, which the conversation lacks.
 */
function placeInHistory(
  state: ConversationState,
  { messages, parentRunId }: AgUiRunInput,
  named: string | undefined,
): { readonly at?: string | undefined; readonly before: HistoryText[] } {
  const earlier = messages.slice(0, -1);
  const last = earlier.findLastIndex((each) => ownMessageId(state, each.id) !== undefined);
  const before = earlier.slice(last + 1).flatMap((each) => {
    const text = agUiText(each);
    return text === "" || each.role === "reasoning" || each.role === "activity" ? [] : [{ role: each.role, text }];
  });
  if (named !== undefined) return { at: turnEndBehind(state, named), before };
  const parent = parentRunId === undefined ? undefined : lastMessageOfTurn(state, parentRunId);
  const known = ownMessageId(state, earlier[last]?.id ?? "");
  return { at: parent ?? (known === undefined ? undefined : turnEndBehind(state, known)), before };
}

function agUiText({ content: said }: AgUiInputMessage): string {
  const { data = [] } = content.safeParse(said);
  return data.map((each) => (each.type === "text" ? each.text : "")).join("");
}

function partsIn(said: AgUiInputMessage): readonly UserPart[] {
  const { data } = content.safeParse(said.content);
  if (!data) throw new ClientError("malformed", "messages: the last one has content that cannot be sent.");
  const pieces = data.flatMap((each): (UserPart | PlainPart)[] => {
    if (each.type === "text") return [{ type: "text", text: each.text }];
    if (each.source.type === "file") return [];
    const { value, mimeType } = each.source;
    if (each.source.type === "data") return [{ type: "file", mediaType: mimeType ?? "", data: value }];
    const mediaType = mimeType ?? `${each.type === "document" ? "application" : each.type}/*`;
    return [{ type: "file", mediaType, url: value }];
  });
  const parts = partsFrom(pieces, "messages");
  if (parts.length === 0) throw new ClientError("malformed", "messages: the last one is empty.");
  return parts;
}
