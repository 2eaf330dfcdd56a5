/** A file that is no exported conversation. The message says where it breaks and what is expected there. */
export class ExchangeError extends Error {
  override readonly name = "ExchangeError";
}
