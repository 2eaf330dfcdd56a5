/**
 * Why a web access failed. `address`: not a fetchable address. `forbidden`: the machine is not public. `rule`: a
 * permission rule denies the address. `redirect`: the redirect was not followed. `missing`: the page does not exist.
 * `status`: the server answered with an error. `content`: the content is neither text nor an image. `size`: it is too
 * large. `time`: the server is too slow. `network`: the server was unreachable, or the connection broke. `settings`:
 * the search is not configured. See {@link WebError}.
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

/**
 * A failure of a web tool. The message gives the model the address and the remedy.
 * @example
 * await readPage("http://127.0.0.1/", { signal, mayFollow: async () => false }).catch((error) => {
 *   if (error instanceof WebError) console.error(error.code, error.message);
 * });
 */
export class WebError extends Error {
  override readonly name = "WebError";
  readonly code: WebErrorCode;

  constructor(code: WebErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
