/**
 * A program that formats a text: it reads the text from standard input, and writes the formatted text to standard output.
 * @example
 * const oak: FormatterKind = {
 *   name: "oak-format",
 *   files: [".oak"],
 *   configuration: ["oak-format.json"],
 *   named: /\boak-format\b/,
 *   command: ["oak-format", "--name", "{path}"],
 * };
 */
export interface FormatterKind {
  readonly name: string;
  /** Ends of file names. */
  readonly files: readonly string[];
  /**
   * Names of the formatter's settings files. It formats files in the folder of a settings file, and files in folders
   * below.
   */
  readonly configuration: readonly string[];
  /** A word that is in the project's scripts or package files if the project uses the program. */
  readonly named: RegExp;
  /** The program and its arguments. `{path}` becomes the path of the file, relative to the workspace. */
  readonly command: readonly [string, ...string[]];
}

const SCRIPTS = [".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"];

/**
 * The formatters that Banyan looks for. The first one that the project uses for a file counts.
 * @example const withoutPrettier = KNOWN_FORMATTERS.filter(({ name }) => name !== "prettier");
 */
export const KNOWN_FORMATTERS: readonly FormatterKind[] = [
  {
    name: "biome",
    files: [...SCRIPTS, ".json", ".jsonc", ".css", ".graphql"],
    configuration: ["biome.json", "biome.jsonc", ".biome.json", ".biome.jsonc"],
    named: /\bbiome (?:format|check)\b/,
    command: ["biome", "format", "--stdin-file-path={path}"],
  },
  {
    name: "prettier",
    files: [
      ...SCRIPTS,
      ...[".json", ".jsonc", ".css", ".scss", ".less", ".html", ".vue", ".svelte"],
      ...[".md", ".mdx", ".yaml", ".yml", ".graphql"],
    ],
    configuration: [
      ...["", ".json", ".json5", ".yaml", ".yml", ".toml", ".js", ".mjs", ".cjs", ".ts"].map(
        (end) => `.prettierrc${end}`,
      ),
      ...[".js", ".mjs", ".cjs", ".ts"].map((end) => `prettier.config${end}`),
    ],
    named: /"prettier": \{|\bprettier (?:-|\.)/,
    command: ["prettier", "--stdin-filepath", "{path}"],
  },
  {
    name: "dprint",
    files: [...SCRIPTS, ".json", ".md", ".toml"],
    configuration: ["dprint.json", "dprint.jsonc", ".dprint.json"],
    named: /\bdprint fmt\b/,
    command: ["dprint", "fmt", "--stdin", "{path}"],
  },
  {
    name: "ruff",
    files: [".py", ".pyi"],
    configuration: ["ruff.toml", ".ruff.toml"],
    named: /\[tool\.ruff|\bruff format\b|\bid: ruff-format\b/,
    command: ["ruff", "format", "--stdin-filename", "{path}", "-"],
  },
  {
    name: "black",
    files: [".py", ".pyi"],
    configuration: [],
    named: /\[tool\.black\]|\bblack (?:-|\.)|\bid: black\b/,
    command: ["black", "--quiet", "--stdin-filename", "{path}", "-"],
  },
  {
    name: "gofmt",
    files: [".go"],
    configuration: ["go.mod"],
    named: /\bgofmt\b|\bgo fmt\b/,
    command: ["gofmt"],
  },
  {
    name: "rustfmt",
    files: [".rs"],
    configuration: ["rustfmt.toml", ".rustfmt.toml"],
    named: /\brustfmt\b|\bcargo fmt\b/,
    command: ["rustfmt", "--edition", "2021"],
  },
  {
    name: "clang-format",
    files: [".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".m"],
    configuration: [".clang-format", "_clang-format"],
    named: /\bclang-format\b/,
    command: ["clang-format", "--assume-filename={path}"],
  },
  {
    name: "stylua",
    files: [".lua"],
    configuration: ["stylua.toml", ".stylua.toml"],
    named: /\bstylua\b/,
    command: ["stylua", "--stdin-filepath", "{path}", "-"],
  },
  {
    name: "shfmt",
    files: [".sh", ".bash"],
    configuration: [],
    named: /\bshfmt\b/,
    command: ["shfmt", "-filename", "{path}"],
  },
];
