import { RequestError } from "@agentclientprotocol/sdk/unstable";
import { ModelError, type ModelErrorCode } from "@banyan/core";

/** What the protocol says where somebody has to sign in. */
const SIGN_IN = -32000;

/** An agent that says nothing for too long. */
export class SilenceError extends Error {
  override readonly name = "SilenceError";
}

/** An agent as sentences about it need it. */
export interface Described {
  readonly name: string;
  /** How it ended and what it said last, while it is known. */
  readonly ending: string;
  /** Whether its process has ended, or its output is closed. */
  readonly isGone: boolean;
  /** How one signs in, as it says. */
  readonly signIn: readonly string[];
}

/** What went wrong with an agent, as one sentence. What is one already stays as it is. */
export function failureOf(error: unknown, agent: Described): ModelError {
  const { name, ending, isGone, signIn } = agent;
  if (error instanceof ModelError) return error;
  const failure = (code: ModelErrorCode, message: string) =>
    new ModelError(code, message, { cause: error, retryable: false });
  if (error instanceof SilenceError) return failure("stalled", `The agent "${name}" ${error.message}.`);
  if (error instanceof RequestError) {
    if (error.code === SIGN_IN) {
      const ways = signIn.length === 0 ? "in its own program" : `there is: ${signIn.join(", ")}`;
      return failure("authentication", `The agent "${name}" wants you to sign in first: ${ways}. Then ask again.`);
    }
    if (!isGone) return failure("provider", `The agent "${name}" refused: ${detailOf(error)}`);
  }
  const how = ending === "" ? "" : ` (${ending})`;
  if (isGone) return failure("broken-stream", `The agent "${name}" ended in the middle of its work${how}.`);
  return failure(
    "provider",
    `The agent "${name}" broke off: ${error instanceof Error ? error.message : String(error)}${how}`,
  );
}

/** The words of an error; what is said beside them where they say nothing. */
function detailOf({ message, data }: RequestError): string {
  const details = (data as { readonly details?: unknown } | undefined)?.details;
  return typeof details === "string" && details !== "" ? `${message}: ${details}` : message;
}
