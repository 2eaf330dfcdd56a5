import { type PromptResponse, RequestError } from "@agentclientprotocol/sdk/unstable";
import { ClientError } from "@banyan/client";
import { lastMessageOfTurn } from "@banyan/client/display";
import type { ConversationState, FeedItem } from "@banyan/core/conversation";
import { errorMessage } from "@banyan/core/shown";

const AUTHENTICATION = -32_000;
const INVALID_PARAMS = -32_602;
const INTERNAL = -32_603;

const NEEDS_KEY: ReadonlySet<string> = new Set(["authentication", "missing-key"]);

/** Converts an error to an ACP error: our message with a code of the protocol. */
export function requestErrorOf(error: unknown, sessionId?: string): RequestError {
  if (error instanceof RequestError) return error;
  const message = errorMessage(error);
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
  if (code === "not-found" && sessionId !== undefined) return new RequestError(-32_002, message, { sessionId });
  if (code !== undefined && NEEDS_KEY.has(code)) return new RequestError(AUTHENTICATION, message, { code });
  const isTheirs = error instanceof ClientError && (code === "malformed" || code === "invalid");
  return new RequestError(isTheirs ? INVALID_PARAMS : INTERNAL, message, code === undefined ? undefined : { code });
}

/** Returns whether a request ended because the editor cancelled it (`$/cancel_request`). */
export function isCancelledByEditor(reason: unknown): boolean {
  return reason instanceof RequestError && reason.code === -32_800;
}

/** Creates the error for an invalid request. */
export function invalidParams(message: string, cause?: unknown): RequestError {
  return Object.assign(new RequestError(INVALID_PARAMS, message), { cause });
}

/** Resolves the prompt when its turn ends, or rejects the prompt. */
export function settlePrompt(
  { run, reason, error }: Extract<FeedItem, { type: "run.ended" }>,
  state: ConversationState,
  answer: PromiseWithResolvers<PromptResponse>,
): void {
  const last = state.messages.get(lastMessageOfTurn(state, run) ?? "");
  const finish = last?.role === "assistant" ? last.finish : undefined;
  if (finish === "filtered") return answer.resolve({ stopReason: "refusal" });
  switch (reason) {
    case "answered":
    case "finished":
      return answer.resolve({ stopReason: finish === "length" ? "max_tokens" : "end_turn" });
    case "limit":
      return answer.resolve({ stopReason: "max_turn_requests" });
    case "interrupted":
      return answer.resolve({ stopReason: "cancelled" });
    case "failed":
      return answer.reject(
        Object.assign(new Error(error?.message ?? "The model could not answer."), { code: error?.code ?? "failed" }),
      );
  }
}
