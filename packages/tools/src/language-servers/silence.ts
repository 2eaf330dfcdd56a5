/** A language server did not answer in time. */
export class SilenceError extends Error {
  override readonly name = "SilenceError";
}
