import { AgentError, DirectiveError, LimitError, ModelError, SessionError, StoreError } from "@banyan/core";
import {
  ConversationError,
  ModelChoiceError,
  RuleError,
  RuleFileError,
  SettingsError,
  WorkspaceError,
} from "@banyan/host";
import { type ExitCode, exitCodes } from "./exit.ts";

/** What went wrong, for a person and for a script. */
export interface Problem {
  readonly code: string;
  /** One sentence that says what to do, or two. */
  readonly message: string;
  readonly exit: ExitCode;
}

/** A mistake on the command line that shows only when it is carried out. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Says what an exception means for whoever started the command. */
export function problemOf(error: unknown): Problem {
  const message = error instanceof Error ? error.message : String(error);
  const usage = (code: string): Problem => ({ code, message, exit: exitCodes.usage });
  if (error instanceof UsageError) return usage("usage");
  if (error instanceof ModelChoiceError) return { code: error.code, message, exit: exitOfModelError(error.code) };
  if (error instanceof ModelError) return { code: error.code, message, exit: exitOfModelError(error.code) };
  if (error instanceof ConversationError) return usage(`conversation-${error.code}`);
  if (error instanceof RuleError) return usage("rule");
  if (error instanceof RuleFileError) return usage("rule-file");
  if (error instanceof SettingsError) return usage("settings");
  if (error instanceof WorkspaceError) return usage("workspace");
  if (error instanceof LimitError || error instanceof AgentError || error instanceof DirectiveError)
    return usage(error.code);
  // It is open in another terminal, or was removed there: another name, or a word to that one, is what helps.
  if (error instanceof StoreError && (error.code === "locked" || error.code === "not-found"))
    return usage(`store-${error.code}`);
  if (error instanceof StoreError) return { code: `store-${error.code}`, message, exit: exitCodes.failed };
  if (error instanceof SessionError) return { code: `session-${error.code}`, message, exit: exitCodes.failed };
  return { code: "defect", message: `Something went wrong inside banyan: ${message}`, exit: exitCodes.failed };
}

/** How a turn exits whose model could not answer. */
export function exitOfModelError(code: string): ExitCode {
  if (code === "authentication" || code === "missing-key") return exitCodes.authentication;
  const usage = ["unknown-provider", "unknown-model", "malformed-name", "missing-address", "malformed-address"];
  return usage.includes(code) ? exitCodes.usage : exitCodes.failed;
}
