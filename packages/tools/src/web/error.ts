/**
 * Why something could not be had from the web. `address`: it cannot be fetched at all. `forbidden`: it leads to a machine
 * that is not public. `rule`: a permission rule is against it. `redirect`: it leads on, to where it was not followed. `missing`:
 * there is nothing. `status`: the server refused. `content`: what came is no text, or no picture. `size`: it is too large. `time`:
 * it took too long. `network`: the server could not be reached, or broke off. `settings`: the search is not set up.
 */
export type WebErrorCode =
  | "address"
  | "forbidden"
  | "rule"
  | "redirect"
  | "missing"
  | "status"
  | "content"
  | "size"
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
