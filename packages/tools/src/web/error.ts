/**
 * The kind of a failed web access. `address`: not fetchable at all. `forbidden`: the machine is not public. `rule`: a
 * permission rule denies the address. `redirect`: the redirect was not followed. `missing`: not found. `status`: the
 * server refused. `content`: the content is neither text nor an image. `size`: too large. `time`: too slow. `network`:
 * the server was unreachable, or the connection broke. `settings`: the search is not configured.
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

/** A failure of a web tool. The message gives the model the address and the remedy. */
export class WebError extends Error {
  override readonly name = "WebError";
  readonly code: WebErrorCode;

  constructor(code: WebErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
