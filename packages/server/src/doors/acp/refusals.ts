import { type PromptResponse, RequestError } from "@agentclientprotocol/sdk/unstable";
import { ClientError } from "@banyan/client";
import { lastOfRun } from "@banyan/client/display";
import type { ConversationState, FeedItem } from "@banyan/core/conversation";

const AUTHENTICATION = -32_000;
const INVALID_PARAMS = -32_602;
const INTERNAL = -32_603;

/** The codes of a model's errors that another key mends. */
const NEEDS_KEY: ReadonlySet<string> = new Set(["authentication", "missing-key"]);

/** What went wrong, as an editor is told it: our sentence under a code of the protocol. */
export function requestErrorOf(error: unknown, sessionId?: string): RequestError {
  if (error instanceof RequestError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
  if (code === "not-found" && sessionId !== undefined) return new RequestError(-32_002, message, { sessionId });
  if (code !== undefined && NEEDS_KEY.has(code)) return new RequestError(AUTHENTICATION, message, { code });
  const isTheirs = error instanceof ClientError && (code === "malformed" || code === "invalid");
  return new RequestError(isTheirs ? INVALID_PARAMS : INTERNAL, message, code === undefined ? undefined : { code });
}

/** Whether this is why a request ends that the editor has taken back (`$/cancel_request`). */
export function isTakenBack(reason: unknown): boolean {
  return reason instanceof RequestError && reason.code === -32_800;
}

/** What was asked for cannot be had in this way. */
export function invalidParams(message: string, cause?: unknown): RequestError {
  return Object.assign(new RequestError(INVALID_PARAMS, message), { cause });
}

/** How a turn ended, as the answer to its prompt. */
export function endOf(
  { run, reason, error }: Extract<FeedItem, { type: "run.ended" }>,
  state: ConversationState,
  answer: PromiseWithResolvers<PromptResponse>,
): void {
  const last = state.messages.get(lastOfRun(state, run) ?? "");
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
