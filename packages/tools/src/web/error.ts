/**
 * Why something could not be had from the web. `address`: it cannot be fetched at all. `forbidden`: it leads to a machine
 * that is not public. `redirect`: it leads on, to where it was not followed. `status`: the server refused. `content`:
 * what came is no text. `time`: it took too long. `network`: the server could not be reached, or broke off. `settings`:
 * the search is not set up.
 */
export type WebErrorCode =
  | "address"
  | "forbidden"
  | "redirect"
  | "status"
  | "content"
  | "time"
  | "network"
  | "settings";

/** A refusal or failure of a web tool. Its message names the address and says what to do, in words for the model. */
export class WebError extends Error {
  override readonly name = "WebError";
  readonly code: WebErrorCode;

  constructor(code: WebErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
