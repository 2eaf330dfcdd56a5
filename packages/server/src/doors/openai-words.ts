import type { UserPart } from "@banyan/core/conversation";
import { ClientError } from "@banyan/protocol/client";
import { z } from "zod";
import { type DoorRequest, doorStatus, fileAt, withToldBefore } from "./door.ts";
import type { Asking, Heard, Taken } from "./turn.ts";

const piece = z.union([
  z.object({ type: z.enum(["text", "input_text", "output_text"]), text: z.string() }),
  z.object({ type: z.literal("image_url"), image_url: z.object({ url: z.string() }) }),
  z.object({ type: z.literal("input_image"), image_url: z.string() }),
]);
const content = z.union([z.string(), z.array(piece)]);
const role = z.enum(["system", "developer", "user", "assistant"]);
/** What somebody said, as both formats have it. */
export const openAiTurn = z.object({ role, content });
export type OpenAiTurn = z.infer<typeof openAiTurn>;

/** What a request of either format says. */
export const openAiRequest = {
  model: z.string().min(1).max(200),
  stream: z.boolean().nullish(),
  tools: z.array(z.unknown()).max(0, "tools of the client are not carried out here; those of the agent are").nullish(),
};

/** How an address says what comes of a turn. */
export interface Words {
  asking(): Asking;
  whole(id: string, taken: Taken): object;
  streamed(id: string, send: (data: object) => void): OpenAiTelling;
}

export interface OpenAiTelling {
  hear(heard: Heard): void;
  end(taken: Taken): void;
  fail(problem: ReturnType<typeof errorOf>): void;
  /** What stands last in the stream. */
  readonly last?: string;
}

/** The last message as it is, with what the calling program says went before it. Throws `ClientError`. */
export function partsOf(messages: readonly OpenAiTurn[]): UserPart[] {
  const before = messages.slice(0, -1).map((each) => ({ role: each.role, text: textOf(each.content) }));
  const last = messages.at(-1);
  const parts = last ? piecesOf(last.content) : [];
  if (parts.length === 0) throw new ClientError("malformed", "The last message is empty.");
  return withToldBefore(parts, before);
}

function textOf(said: z.infer<typeof content>): string {
  return piecesOf(said)
    .map((part) => (part.type === "text" ? part.text : "[an image]"))
    .join("\n");
}

function piecesOf(said: z.infer<typeof content>): UserPart[] {
  if (typeof said === "string") return said === "" ? [] : [{ type: "text", text: said }];
  return said.map((each): UserPart => {
    if ("text" in each) return { type: "text", text: each.text };
    const url = typeof each.image_url === "string" ? each.image_url : each.image_url.url;
    return fileAt(url, "image/*");
  });
}

export const finishOf = ({ reason }: Taken) => (reason === "limit" || reason === "interrupted" ? "length" : "stop");

/** A problem as OpenAI says it. */
export function errorOf(code: string, message: string) {
  return { error: { message, type: code === "failed" ? "server_error" : "invalid_request_error", code, param: null } };
}

export function openAiFailure(
  context: DoorRequest,
  { code, message }: { readonly code: string; readonly message: string },
) {
  return context.json(errorOf(code, message), code === "invalid" ? 400 : doorStatus(code));
}
