import { RequestError } from "@agentclientprotocol/sdk/unstable";
import { ModelError, type ModelErrorCode } from "@banyan/core";
import { errorMessage } from "@banyan/core/shown";

/** Error code of the protocol for a missing sign-in. */
const SIGN_IN = -32000;

/** An error for an agent that sent nothing for longer than its `patience`. */
export class AgentSilenceError extends Error {
  override readonly name = "AgentSilenceError";
}

/** The agent's state from which {@link agentFailure} builds an error message. */
export interface AgentCondition {
  readonly name: string;
  readonly ending: string;
  readonly isGone: boolean;
  readonly signIn: readonly string[];
}

/** Converts an error of an agent to a `ModelError` with one sentence. Returns a `ModelError` unchanged. */
export function agentFailure(error: unknown, agent: AgentCondition): ModelError {
  const { name, ending, isGone, signIn } = agent;
  if (error instanceof ModelError) return error;
  const failure = (code: ModelErrorCode, message: string) =>
    new ModelError(code, message, { cause: error, retryable: false });
  if (error instanceof AgentSilenceError) return failure("stalled", `The agent "${name}" ${error.message}.`);
  if (error instanceof RequestError) {
    if (error.code === SIGN_IN) {
      const how = signIn.length === 0 ? "with the agent's own program" : `by one of these ways: ${signIn.join(", ")}`;
      return failure(
        "authentication",
        `The agent "${name}" is not signed in. Sign in ${how}. Then send your message again.`,
      );
    }
    if (!isGone) return failure("provider", `The agent "${name}" reported an error: ${detailOf(error)}`);
  }
  const how = ending === "" ? "" : ` (${ending})`;
  if (isGone) return failure("broken-stream", `The agent "${name}" exited before it finished${how}.`);
  return failure("provider", `The agent "${name}" failed: ${errorMessage(error)}${how}`);
}

function detailOf({ message, data }: RequestError): string {
  const details = (data as { readonly details?: unknown } | undefined)?.details;
  return typeof details === "string" && details !== "" ? `${message}: ${details}` : message;
}
