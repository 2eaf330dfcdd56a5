/**
 * What a server did not do, or why it cannot be reached. `code` is one of the protocol's, or `unreachable`: nothing
 * answers at the address; `refused`: the token, the address or the version is not the server's; `closed`: this client
 * was closed. The message is a sentence for a person.
 */
export class RemoteError extends Error {
  override readonly name = "RemoteError";
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
