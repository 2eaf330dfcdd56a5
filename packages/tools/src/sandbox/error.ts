/**
 * What a sandbox can refuse or run into. `policy`: it is not possible as asked for. `closed`: it was closed, or its
 * process ended. `system`: a command could not be put into it.
 */
export type SandboxErrorCode = "policy" | "closed" | "system";

/** A failure of a sandbox. Nothing runs outside of it instead. Its message says what to do. */
export class SandboxError extends Error {
  override readonly name = "SandboxError";
  readonly code: SandboxErrorCode;

  constructor(code: SandboxErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
