import {
  OAuthClientFlowError,
  OAuthError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { McpError, type McpErrorCode, reasonOf } from "./error.ts";
import { SilenceError } from "./silence.ts";

/** What a failed exchange with a server means, for people: a code, and what it did or did not do. */
export interface Failure {
  readonly code: McpErrorCode;
  /** A part of a sentence, about "it". */
  readonly reason: string;
}

/** What a failed exchange means. `signal` is what could have ended it. */
export function failureOf(error: unknown, signal: AbortSignal): Failure {
  if (signal.aborted && signal.reason instanceof SilenceError) {
    return { code: "silent", reason: `it gave ${signal.reason.message}` };
  }
  if (signal.aborted && signal.reason instanceof McpError)
    return failureOf(signal.reason, new AbortController().signal);
  if (error instanceof McpError) return { code: error.code, reason: error.message };
  if (isStatus(error, 403)) return { code: "sign-in", reason: "it does not allow this with these credentials (403)" };
  if (UnauthorizedError.isInstance(error) || isStatus(error, 401)) {
    return { code: "sign-in", reason: "it refuses the credentials that it was given (401)" };
  }
  if (OAuthError.isInstance(error) || OAuthClientFlowError.isInstance(error)) {
    return { code: "sign-in", reason: `signing in to it failed: ${reasonOf(error)}` };
  }
  if (ProtocolError.isInstance(error)) return { code: "refused", reason: `it answered: ${reasonOf(error)}` };
  if (SdkError.isInstance(error) && error.code === SdkErrorCode.RequestTimeout) {
    return { code: "silent", reason: "it gave no answer in time" };
  }
  if (SdkError.isInstance(error) && error.code === SdkErrorCode.ConnectionClosed)
    return { code: "gone", reason: "its connection broke off before it had answered" };
  if (isLost(error)) return { code: "gone", reason: `it cannot be reached: ${reasonOf(error)}` };
  return { code: "refused", reason: reasonOf(error) };
}

/** Whether the connection broke, or there is no way to the server at all. */
export function isLost(error: unknown): boolean {
  if (SdkHttpError.isInstance(error)) return error.status >= 502 && error.status <= 504;
  if (SdkError.isInstance(error)) {
    return error.code === SdkErrorCode.ConnectionClosed || error.code === SdkErrorCode.NotConnected;
  }
  // What `fetch` throws when no answer came, and what a pipe does whose other end is closed.
  if (error instanceof TypeError) return error.cause !== undefined;
  return error instanceof Error && "code" in error && error.code === "EPIPE";
}

/** Whether a server says that it does not know a session, as streamable HTTP has it: then it did nothing. */
export function isForgotten(error: unknown): boolean {
  return isStatus(error, 404);
}

function isStatus(error: unknown, status: number): boolean {
  return SdkHttpError.isInstance(error) && error.status === status;
}
