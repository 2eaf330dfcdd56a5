/**
 * Why a model cannot be used: its name, the provider's settings in the environment, or its package.
 * See {@link ModelChoiceError}.
 */
export type ModelChoiceErrorCode =
  | "unknown-provider"
  | "unknown-model"
  | "malformed-name"
  | "no-embeddings"
  | "missing-key"
  | "missing-address"
  | "malformed-address"
  | "missing-package";

/**
 * Error for a model that cannot be used. `message` names the fault and the remedy.
 * @example
 * await resolveModel("sonet").catch((error) => error instanceof ModelChoiceError && console.log(error.message));
 */
export class ModelChoiceError extends Error {
  override readonly name = "ModelChoiceError";
  readonly code: ModelChoiceErrorCode;

  constructor(code: ModelChoiceErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
