import {
  OAuthClientFlowError,
  OAuthError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { McpError, type McpErrorCode, reasonOf } from "../entries/error.ts";
import { bodyMessage, UNANSWERED } from "./http-answer.ts";
import { ServerSilenceError } from "./silence.ts";

/** A failed exchange with an MCP server: its code, and the reason for users. */
export interface McpFailure {
  readonly code: McpErrorCode;
  /** What the server did, as the end of a sentence, such as "it gave no answer in time". */
  readonly reason: string;
}

/** Explains why an exchange with an MCP server failed. `signal` is the signal that could have aborted the exchange. */
export function mcpFailure(error: unknown, signal: AbortSignal): McpFailure {
  if (signal.aborted && signal.reason instanceof ServerSilenceError) {
    return { code: "silent", reason: `it gave ${signal.reason.message}` };
  }
  if (signal.aborted && signal.reason instanceof McpError)
    return mcpFailure(signal.reason, new AbortController().signal);
  if (error instanceof McpError) return { code: error.code, reason: error.message };
  if (isStatus(error, 403)) return { code: "sign-in", reason: "these credentials do not allow this (403)" };
  if (UnauthorizedError.isInstance(error) || isStatus(error, 401)) {
    return { code: "sign-in", reason: "it refuses these credentials (401)" };
  }
  if (OAuthError.isInstance(error) || OAuthClientFlowError.isInstance(error)) {
    return { code: "sign-in", reason: `signing in to it failed: ${reasonOf(error)}` };
  }
  if (ProtocolError.isInstance(error) && error.data === UNANSWERED)
    return { code: "gone", reason: "its stream of events ended without an answer" };
  if (ProtocolError.isInstance(error)) return { code: "refused", reason: `it answered: ${reasonOf(error)}` };
  if (SdkError.isInstance(error) && error.code === SdkErrorCode.RequestTimeout) {
    return { code: "silent", reason: "it gave no answer in time" };
  }
  if (SdkError.isInstance(error) && error.code === SdkErrorCode.ConnectionClosed)
    return { code: "gone", reason: "its connection broke off before it had answered" };
  if (isConnectionLost(error)) return { code: "gone", reason: `it cannot be reached: ${reasonOf(error)}` };
  if (SdkHttpError.isInstance(error)) {
    const words = bodyMessage(error.message.replace(/^Error POSTing to endpoint:\s*/, ""));
    return {
      code: "refused",
      reason: `it answered with the status ${error.status}${words === "" ? "" : ` (${words})`}`,
    };
  }
  return { code: "refused", reason: reasonOf(error) };
}

/** Returns whether an error means that the connection broke or that the server cannot be reached. */
export function isConnectionLost(error: unknown): boolean {
  if (SdkHttpError.isInstance(error)) return error.status >= 502 && error.status <= 504;
  if (SdkError.isInstance(error)) {
    return error.code === SdkErrorCode.ConnectionClosed || error.code === SdkErrorCode.NotConnected;
  }
  // `fetch` throws a `TypeError` if no response comes; a pipe fails with EPIPE if the program closed its input.
  if (error instanceof TypeError) return error.cause !== undefined;
  return error instanceof Error && "code" in error && error.code === "EPIPE";
}

/**
 * Returns whether a server rejected a request because it had forgotten the session. The request then had no effect.
 * Streamable HTTP answers 404; restarted servers also answer 400 with a message about the session (F57).
 */
export function isForgotten(error: unknown): boolean {
  if (isStatus(error, 404)) return true;
  return (isStatus(error, 400) || ProtocolError.isInstance(error)) && /\bsession\b/i.test(serverErrorText(error));
}

/** Returns the newest known protocol version that a server names when it rejects another version (F57). */
export function versionNamedIn(error: unknown, known: readonly string[]): string | undefined {
  if (!isStatus(error, 400) && !ProtocolError.isInstance(error)) return undefined;
  const words = serverErrorText(error);
  if (!/protocol.?version/i.test(words)) return undefined;
  // The text before "supported" names the refused version.
  const [, ...named] = words.split(/supported/i);
  const versions = named.at(-1)?.match(/\d{4}-\d\d-\d\d/g) ?? [];
  return versions
    .filter((version) => known.includes(version))
    .sort()
    .at(-1);
}

function serverErrorText(error: unknown): string {
  const data = error instanceof Error && "data" in error ? JSON.stringify(error.data) : "";
  return `${reasonOf(error)} ${data}`;
}

function isStatus(error: unknown, status: number): boolean {
  return SdkHttpError.isInstance(error) && error.status === status;
}
