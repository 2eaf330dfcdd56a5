/**
 * What was not carried out, or why nobody can be asked. `code` is one of the protocol's (`errorCodes`), or `unreachable`:
 * nothing answers at the address; `refused`: the token, the address or the version is not the server's; `signed-out`: the
 * server does not know this page's sign-in any more; `removed`, `broken`: the conversation is gone, or cannot be written any
 * more; `cancelled`: it was taken back before it was sent; `closed`: this client was closed. The message is a sentence for a
 * person; `cause` is the error itself where that happened in this process.
 */
export class ClientError extends Error {
  override readonly name = "ClientError";
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
