import { RequestError } from "@agentclientprotocol/sdk/unstable";
import { ModelError, type ModelErrorCode } from "@banyan/core";
import { errorMessage } from "@banyan/core/shown";

/** Error code of the protocol for a missing sign-in. */
const SIGN_IN = -32000;

/** The agent was silent for too long. */
export class AgentSilenceError extends Error {
  override readonly name = "AgentSilenceError";
}

/** Facts about an agent for error messages. */
export interface AgentCondition {
  readonly name: string;
  /** How the process ended and its last output, as far as known. */
  readonly ending: string;
  /** True if the agent's process has ended, or its output is closed. */
  readonly isGone: boolean;
  /** Sign-in methods that the agent offers. */
  readonly signIn: readonly string[];
}

/** Describes a failure of an agent as a `ModelError` with one sentence. Returns a `ModelError` unchanged. */
export function agentFailure(error: unknown, agent: AgentCondition): ModelError {
  const { name, ending, isGone, signIn } = agent;
  if (error instanceof ModelError) return error;
  const failure = (code: ModelErrorCode, message: string) =>
    new ModelError(code, message, { cause: error, retryable: false });
  if (error instanceof AgentSilenceError) return failure("stalled", `The agent "${name}" ${error.message}.`);
  if (error instanceof RequestError) {
    if (error.code === SIGN_IN) {
      const ways = signIn.length === 0 ? "in its own program" : `there is: ${signIn.join(", ")}`;
      return failure("authentication", `The agent "${name}" wants you to sign in first: ${ways}. Then ask again.`);
    }
    if (!isGone) return failure("provider", `The agent "${name}" refused: ${detailOf(error)}`);
  }
  const how = ending === "" ? "" : ` (${ending})`;
  if (isGone) return failure("broken-stream", `The agent "${name}" ended in the middle of its work${how}.`);
  return failure("provider", `The agent "${name}" broke off: ${errorMessage(error)}${how}`);
}

/** The message of an error, followed by its `details` if it has any. */
function detailOf({ message, data }: RequestError): string {
  const details = (data as { readonly details?: unknown } | undefined)?.details;
  return typeof details === "string" && details !== "" ? `${message}: ${details}` : message;
}
