/**
 * A tool throws it when it did nothing: a command could not be started, or was refused. Users are then told that the call did
 * not run, and the model reads "Not executed: " with the message.
 * @example throw new NotExecutedError("there is no shell on this system. Use the other tools.");
 */
export class NotExecutedError extends Error {
  override readonly name = "NotExecutedError";
}

/** How a tool failed, as the beginning of what the model is told. */
export function howFailed(error: unknown): "Not executed" | "The tool failed" {
  return error instanceof NotExecutedError ? "Not executed" : "The tool failed";
}
