/** A language in which symbols can be found. TypeScript's grammar has no JSX, so TSX is a language of its own. */
export type SymbolLanguage = "typescript" | "tsx" | "javascript" | "python" | "go" | "rust";

/** How paths end, and the tags of fences. */
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
 * The language of a file: by the end of its path, or else by the tag of a fence (`ts`, `python`). Throws a `SymbolError`
 * (`language`) that says what else to do when neither is one in which symbols can be found.
 */
export function languageOf(path: string, tag = ""): SymbolLanguage {
  const end = /\.([^.]+)$/.exec(path)?.[1] ?? "";
  const language = LANGUAGES.get(end.toLowerCase()) ?? LANGUAGES.get(tag.toLowerCase());
  if (language) return language;
  throw new SymbolError(
    "language",
    `Symbols cannot be found in ${path}, only in TypeScript, JavaScript, Python, Go and Rust; use line numbers instead.`,
  );
}

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
