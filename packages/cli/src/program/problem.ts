import { DirectiveError, LimitError, ModelError, OptionError, SessionError, StoreError } from "@banyan/core";
import { errorMessage } from "@banyan/core/shown";
import {
  ApprovalError,
  ConversationError,
  MemoryError,
  ModelChoiceError,
  PromptError,
  RuleError,
  SettingsError,
  WorkspaceError,
  WorktreeError,
} from "@banyan/host";
import { McpError } from "@banyan/host/mcp";
import { optionWords, ownCommand } from "@banyan/host/own-command";
import { type ExitCode, exitCodes, StoppedError } from "./exit.ts";
import { serverOfProcess } from "./server-announcement.ts";

/** An error as a command reports it: its exit code, and text for the user. */
export interface ReportedProblem {
  readonly code: string;
  readonly message: string;
  readonly exit: ExitCode;
}

/** An error in the command line that is found only when the command runs. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Converts an exception to a sentence for the user and an exit code. */
export function reportedProblem(error: unknown): ReportedProblem {
  const message = errorMessage(error);
  const usage = (code: string): ReportedProblem => ({ code, message, exit: exitCodes.usage });
  if (error instanceof UsageError) return usage("usage");
  if (error instanceof StoppedError) return error.problem;
  if (error instanceof ModelChoiceError) return { code: error.code, message, exit: exitOfModelError(error.code) };
  if (error instanceof ModelError) return { code: error.code, message, exit: exitOfModelError(error.code) };
  if (error instanceof ConversationError) return usage(`conversation-${error.code}`);
  if (error instanceof PromptError)
    return { code: "command", message, exit: error.cause === undefined ? exitCodes.usage : exitCodes.failed };
  if (error instanceof RuleError) return usage("rule");
  if (error instanceof ApprovalError) return usage("approval");
  if (error instanceof SettingsError) return usage("settings");
  if (error instanceof WorkspaceError) return usage("workspace");
  if (error instanceof WorktreeError) return usage(`worktree-${error.code}`);
  if (error instanceof MemoryError) {
    const exit = error.code === "unfit" || error.code === "off" ? exitCodes.usage : exitCodes.failed;
    return { code: `memory-${error.code}`, message, exit };
  }
  // Compare the name: only some commands load the client's module.
  if (error instanceof Error && error.name === "ClientError" && "code" in error) {
    // For an agent in this process, the cause is the actual error.
    const own = error.cause === undefined ? undefined : reportedProblem(error.cause);
    if (own && own.code !== "defect") return own;
    return {
      code: `server-${error.code}`,
      message: error.code === "unreachable" ? `${message} Start a server with ${ownCommand("serve")}.` : message,
      exit: error.code === "failed" ? exitCodes.failed : exitCodes.usage,
    };
  }
  // Evaluation is rarely loaded, so compare the name here too.
  if (error instanceof Error && error.name === "EvaluationError") return usage("evaluation");
  if (error instanceof McpError) return usage(`mcp-${error.code}`);
  if (error instanceof LimitError || error instanceof OptionError || error instanceof DirectiveError)
    return usage(error.code);
  // Usage errors: another terminal has the conversation open, or it was removed. Another name helps, or that terminal.
  if (error instanceof StoreError && (error.code === "locked" || error.code === "not-found"))
    return { ...usage(`store-${error.code}`), message: `${message}${attachHint(error)}` };
  if (error instanceof StoreError) return { code: `store-${error.code}`, message, exit: exitCodes.failed };
  if (error instanceof SessionError) return { code: `session-${error.code}`, message, exit: exitCodes.failed };
  return { code: "defect", message: `Something went wrong inside banyan: ${message}`, exit: exitCodes.failed };
}

/** Explains how to join a conversation that a local server has open (F5). */
function attachHint({ process, conversation }: StoreError): string {
  const server = process === undefined ? undefined : serverOfProcess(process);
  if (!server || conversation === undefined) return "";
  return ` Or join it there: ${ownCommand(["attach", server.address, ...optionWords("--resume", conversation)])}`;
}

export function exitOfModelError(code: string): ExitCode {
  if (code === "authentication" || code === "missing-key") return exitCodes.authentication;
  const usage = ["unknown-provider", "unknown-model", "malformed-name", "missing-address", "malformed-address"];
  return usage.includes(code) ? exitCodes.usage : exitCodes.failed;
}
