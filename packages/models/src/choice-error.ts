/** What is wrong with a name, or missing in the environment for it. */
export type ModelChoiceErrorCode =
  | "unknown-provider"
  | "unknown-model"
  | "malformed-name"
  | "no-embeddings"
  | "missing-key"
  | "missing-address"
  | "malformed-address";

/** The name of a model cannot be turned into a model. `message` is one or two sentences that say what to do. */
export class ModelChoiceError extends Error {
  override readonly name = "ModelChoiceError";
  readonly code: ModelChoiceErrorCode;

  constructor(code: ModelChoiceErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
