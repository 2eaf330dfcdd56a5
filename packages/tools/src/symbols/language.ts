/** A language whose symbols can be found. TSX is a separate language because TypeScript's grammar lacks JSX. */
export type SymbolLanguage = "typescript" | "tsx" | "javascript" | "python" | "go" | "rust";

const NAMES: Readonly<Record<SymbolLanguage, string>> = {
  typescript: "ts mts cts typescript",
  tsx: "tsx",
  javascript: "js mjs cjs jsx javascript",
  python: "py pyi python python3",
  go: "go golang",
  rust: "rs rust",
};

const LANGUAGES: ReadonlyMap<string, SymbolLanguage> = new Map(
  Object.entries(NAMES).flatMap(([language, names]) =>
    names.split(" ").map((name) => [name, language as SymbolLanguage]),
  ),
);

/**
 * Returns the language of a file by its extension, or else by the tag of a code block (`ts`, `python`). Throws a
 * `SymbolError` (`language`) if neither is supported.
 */
export function fileLanguage(path: string, tag = ""): SymbolLanguage {
  const end = /\.([^.]+)$/.exec(path)?.[1] ?? "";
  const language = LANGUAGES.get(end.toLowerCase()) ?? LANGUAGES.get(tag.toLowerCase());
  if (language) return language;
  throw new SymbolError(
    "language",
    `Symbols cannot be found in ${path}, only in TypeScript, JavaScript, Python, Go and Rust; use line numbers instead.`,
  );
}

/**
 * Why a symbol was not found. `language`: the language is not supported. `size`: the text is too long. `unknown`: no
 * symbol has this name. `ambiguous`: several symbols have this name. `shared`: other code is on the symbol's lines.
 * `syntax`: the symbol does not parse.
 */
export type SymbolErrorCode = "language" | "size" | "unknown" | "ambiguous" | "shared" | "syntax";

/** A failed search for a symbol. The message gives the model the reason, with lines and similar names. */
export class SymbolError extends Error {
  override readonly name = "SymbolError";
  readonly code: SymbolErrorCode;

  constructor(code: SymbolErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
