import { SessionError, StoreError } from "@banyan/core";
import type { ErrorCode, Problem } from "@banyan/protocol";

/** Rejection of work while the server stops. */
export class ServerStopping extends Error {
  override readonly name = "ServerStopping";

  constructor() {
    super("The server is stopping. Connect again later.");
  }
}

/** The named thing does not exist. */
export class NotThereError extends Error {
  override readonly name = "NotThereError";
}

/** An answer that does not fit its question. */
export class UnfittingAnswerError extends Error {
  override readonly name = "UnfittingAnswerError";
}

/** The command would change a branch while an agent works on it or waits for a user. */
export class AtWorkError extends Error {
  override readonly name = "AtWorkError";

  constructor({ isWaiting = false } = {}) {
    super(
      isWaiting
        ? "This branch waits for a user. Answer the question, or interrupt the turn, and try again."
        : "An agent works on this branch. Interrupt it, or wait until it is done, and try again.",
    );
  }
}

/** Turns the `busy` error of a session into `AtWorkError`; returns any other error unchanged. */
export function asAtWork(error: unknown): unknown {
  return error instanceof SessionError && error.code === "busy" ? new AtWorkError() : error;
}

/** Errors whose message tells a user what to do, by name: their packages are optional for a server. */
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
  WorktreeError: "invalid",
};

/** The problem that a client gets for an error; `undefined` for an internal error, whose message belongs in the log only. */
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
