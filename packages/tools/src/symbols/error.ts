/**
 * Why a symbol cannot be given. `language`: nothing is known of the language. `size`: the text is too long. `unknown`:
 * there is no symbol of that name. `ambiguous`: there are several. `shared`: other code stands on its lines. `syntax`: it
 * does not parse.
 */
export type SymbolErrorCode = "language" | "size" | "unknown" | "ambiguous" | "shared" | "syntax";

/** A symbol that cannot be given. The message says why, with lines and near names, in words for the model. */
export class SymbolError extends Error {
  override readonly name = "SymbolError";
  readonly code: SymbolErrorCode;

  constructor(code: SymbolErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
