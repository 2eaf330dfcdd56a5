/** Why a run was interrupted: by a person, because nobody reads it any more, or because the session closed. */
export class Interruption extends Error {
  override readonly name = "Interruption";
}

export type SessionErrorCode = "closed" | "broken" | "no-log" | "no-question" | "no-run";

/** A session cannot do what was asked. */
export class SessionError extends Error {
  override readonly name = "SessionError";
  readonly code: SessionErrorCode;

  constructor(code: SessionErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
