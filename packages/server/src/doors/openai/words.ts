import { ClientError } from "@banyan/client";
import type { UserPart } from "@banyan/core/conversation";
import { parseJsonText } from "@banyan/core/shown";
import type { ClientTool } from "@banyan/protocol";
import { z } from "zod";
import { type DoorRequest, doorStatus, partsFrom, withHistoryTexts } from "../door.ts";
import type { DoorTurn, Results, TurnRequest, TurnResult, TurnUpdate } from "./turn.ts";

const piece = z.union([
  z.object({ type: z.enum(["text", "input_text", "output_text"]), text: z.string() }),
  z.object({ type: z.literal("image_url"), image_url: z.object({ url: z.string() }) }),
  z.object({ type: z.literal("input_image"), image_url: z.string() }),
]);
export const openAiContent = z.union([z.string(), z.array(piece)]);
const role = z.enum(["system", "developer", "user", "assistant"]);
/** A message of chat completions or of responses. */
export const openAiTurn = z.object({ role, content: openAiContent });
export type OpenAiTurn = z.infer<typeof openAiTurn>;

const described = z.object({
  name: z.string().regex(/^[\w-]{1,64}$/),
  description: z.string().max(10_000).nullish(),
  parameters: z.record(z.string(), z.json()).nullish(),
});
export type DescribedTool = z.infer<typeof described>;
const nested = z.object({ type: z.literal("function"), function: described });
/** A tool of the program, in the format of chat completions or of responses. */
const tool = z.union([nested.transform((entry) => entry.function), described.extend({ type: z.literal("function") })], {
  error: 'expected a tool of type "function", with a name of 1 to 64 letters, digits, _ and -',
});

/** The fields that chat completions and responses have in common. Other fields are ignored. */
export const openAiRequest = {
  model: z.string().min(1).max(200),
  stream: z.boolean().nullish(),
  tools: z.array(tool).max(128).nullish(),
  tool_choice: z
    .enum(["auto", "none"], {
      error: 'takes "auto" and "none" alone: the agent decides which tools it calls, and a request cannot force a call',
    })
    .nullish(),
  metadata: z.unknown().optional(),
};

/** The text format of a response: only plain text. */
export const textFormat = z
  .looseObject({ type: z.literal("text", { error: 'takes "text" alone: ask for JSON in your message' }) })
  .nullish();

/** Returns the tools of a request in the form of a turn's command. */
export function requestTools({
  tools,
  tool_choice,
}: {
  readonly tools?: readonly DescribedTool[] | null | undefined;
  readonly tool_choice?: unknown;
}): readonly ClientTool[] {
  if (!tools || tool_choice === "none") return [];
  return tools.map(({ name, description, parameters }) => ({
    name,
    description: description ?? "",
    input: { type: "object", ...parameters },
  }));
}

/** Encodes a call, or the first message of a turn, into an id, so that no list of ids is needed. */
export function encodeId(kind: "call" | "resp", conversation: string, what: string): string {
  return `${kind}_${Buffer.from(JSON.stringify([conversation, what])).toString("base64url")}`;
}

const coded = z.tuple([z.string().min(1).max(200), z.string().min(1).max(600)]);

/** Decodes an id of `encodeId`. Throws `ClientError` with `sentence` for any other id. */
export function decodeId(id: string, sentence: string): readonly [conversation: string, what: string] {
  const { data } = coded.safeParse(parseJsonText(String(Buffer.from(id.replace(/^(call|resp)_/, ""), "base64url"))));
  if (!data) throw new ClientError("not-found", sentence);
  return data;
}

/** Returns the results of calls by the ids that the program got. Throws `ClientError`. */
export function resultsOf(outputs: readonly { readonly id: string; readonly output: string }[]): Results {
  const results = outputs.map(({ id, output }) => {
    const [conversation, call] = decodeId(id, `${JSON.stringify(id)}: no open call has this id.`);
    return { conversation, call, output };
  });
  const [{ conversation = "" } = {}] = results;
  if (results.some((each) => each.conversation !== conversation))
    throw new ClientError("malformed", "The results belong to more than one conversation.");
  return { conversation, results };
}

/** The request and response format of an address. */
export interface OpenAiFormat {
  asking(): TurnRequest | Results | Promise<TurnRequest | Results>;
  whole(turn: DoorTurn, taken: TurnResult): object;
  streamed(turn: DoorTurn, send: (data: object) => void): OpenAiStream;
}

export interface OpenAiStream {
  hear(heard: TurnUpdate): void;
  end(taken: TurnResult): void;
  fail(problem: ReturnType<typeof openAiError>): void;
  /** The last data of the stream. */
  readonly last?: string;
}

export const isSystem = (role: string) => role === "system" || role === "developer";

/**
 * Returns the earlier messages of a request: the system messages, and the other messages without empty user messages.
 */
export function earlierMessages<Message extends object>(messages: readonly Message[]) {
  const [told, history]: [OpenAiTurn[], Message[]] = [[], []];
  for (const message of messages.slice(0, -1)) {
    const turn = openAiTurn.safeParse(message).data;
    if (turn && isSystem(turn.role)) told.push(turn);
    else if (turn?.role !== "user" || openAiParts(turn.content).length > 0) history.push(message);
  }
  return { told, history };
}

/** Returns the last message, and the earlier messages as text from outside the conversation. Throws `ClientError`. */
export function userPartsOf(messages: readonly OpenAiTurn[]): UserPart[] {
  const before = messages.slice(0, -1).map((each) => ({ role: each.role, text: openAiText(each.content) }));
  const last = messages.at(-1);
  const parts = last ? openAiParts(last.content) : [];
  if (parts.length === 0) throw new ClientError("malformed", "The last message is empty.");
  return withHistoryTexts(parts, before);
}

export function openAiText(said: z.infer<typeof openAiContent>): string {
  return openAiParts(said)
    .map((part) => (part.type === "text" ? part.text : "[an image]"))
    .join("\n");
}

function openAiParts(said: z.infer<typeof openAiContent>): UserPart[] {
  if (typeof said === "string") return said === "" ? [] : [{ type: "text", text: said }];
  return said.flatMap((each): readonly UserPart[] =>
    "text" in each ? [{ type: "text", text: each.text }] : partsFrom([each], "content"),
  );
}

export const finishOf = ({ reason }: TurnResult) =>
  reason === "limit" || reason === "interrupted" ? "length" : "stop";

/** Creates an error in OpenAI's format. */
export function openAiError(code: string, message: string) {
  return { error: { message, type: code === "failed" ? "server_error" : "invalid_request_error", code, param: null } };
}

/** OpenAI's code for a request that is too long: its clients do not retry on this code. */
const TOO_LONG = "context_length_exceeded";

/** Returns the reason why a turn failed, with OpenAI's code. */
export function turnFailure({ error: message = "The model failed.", code }: TurnResult) {
  return { code: code === "context-overflow" ? TOO_LONG : "failed", message };
}

export function openAiFailure(
  context: DoorRequest,
  { code, message }: { readonly code: string; readonly message: string },
) {
  return context.json(openAiError(code, message), code === "invalid" || code === TOO_LONG ? 400 : doorStatus(code));
}
