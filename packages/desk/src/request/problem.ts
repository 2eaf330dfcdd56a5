import { SessionError, StoreError } from "@banyan/core";
import type { ErrorCode, Problem } from "@banyan/protocol";

/** The error of a command that arrives while the server stops. */
export class ServerStopping extends Error {
  override readonly name = "ServerStopping";

  constructor() {
    super("The server is stopping. Connect again later.");
  }
}

/** The error of a command that names a missing conversation, message, question or link. */
export class NotThereError extends Error {
  override readonly name = "NotThereError";
}

/** The error of a command whose values do not fit the question or the branches that it names. */
export class UnfittingAnswerError extends Error {
  override readonly name = "UnfittingAnswerError";
}

/** The error of a command that would change a branch on which an agent works or waits. */
export class AtWorkError extends Error {
  override readonly name = "AtWorkError";

  constructor({ isWaiting = false } = {}) {
    super(
      isWaiting
        ? "This branch waits for a user. Answer the question, or interrupt the turn, and try again."
        : "An agent works on this branch. Interrupt the agent or wait until it is done, then try again.",
    );
  }
}

/** Converts a session's `busy` error to `AtWorkError`; returns other errors unchanged. */
export function asAtWork(error: unknown): unknown {
  return error instanceof SessionError && error.code === "busy" ? new AtWorkError() : error;
}

/** Codes of errors whose message is for users. By name: their packages are optional for a server. */
const CODES: Readonly<Record<string, ErrorCode>> = {
  OptionError: "invalid",
  AtWorkError: "invalid",
  DirectiveError: "invalid",
  DriverError: "failed",
  ExchangeError: "invalid",
  HookError: "invalid",
  LimitError: "invalid",
  ModelChoiceError: "invalid",
  ModelError: "invalid",
  NotThereError: "not-found",
  PromptError: "invalid",
  RuleError: "invalid",
  SettingsError: "invalid",
  ServerStopping: "stopping",
  ShareError: "invalid",
  ToolDefinitionError: "invalid",
  TurnNotBegun: "invalid",
  UnfittingAnswerError: "invalid",
  WorkspaceError: "failed",
  WorktreeError: "invalid",
};

/**
 * Converts an error to a problem that a client can show. `undefined` for an internal error, which only the log may
 * contain.
 */
export function clientProblem(error: unknown): (Problem & { readonly code: ErrorCode }) | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = problemCode(error);
  return code && { code, message: error.message };
}

function problemCode(error: Error): ErrorCode | undefined {
  if (error instanceof ServerStopping) return "stopping";
  if (error instanceof StoreError) {
    const { code } = error;
    return code === "not-found" || code === "locked" || code === "damaged" ? code : "failed";
  }
  // A session closes during a command only when the server stops.
  if (error instanceof SessionError && error.code === "closed") return "stopping";
  if (error instanceof SessionError) return error.code.startsWith("no-") ? "not-found" : "failed";
  if (error.name === "ConversationError")
    return "code" in error && error.code === "ambiguous" ? "ambiguous" : "not-found";
  if (error.name === "ApprovalError") return "needsYes" in error && error.needsYes ? "unconfirmed" : "invalid";
  return CODES[error.name];
}
