/**
 * A language server: its files and its commands. The first command that works is used.
 * @example
 * const oak: ServerKind = {
 *   name: "oak",
 *   files: { ".oak": "oak" },
 *   commands: [["oak-server", "--stdio"]],
 *   options: { strict: true },
 * };
 */
export interface ServerKind {
  readonly name: string;
  /** The protocol's name for the language, by the ending of a file's name. */
  readonly files: Readonly<Record<string, string>>;
  readonly commands: readonly (readonly [string, ...string[]])[];
  /** Options that the server gets when it starts. */
  readonly options?: unknown;
}

const SCRIPTS = {
  ".ts": "typescript",
  ".mts": "typescript",
  ".cts": "typescript",
  ".tsx": "typescriptreact",
  ".js": "javascript",
  ".mjs": "javascript",
  ".cjs": "javascript",
  ".jsx": "javascriptreact",
};

/**
 * The language servers that Banyan looks for, by kinds of files.
 * @example const withoutJava = KNOWN_SERVERS.filter(({ name }) => name !== "java");
 */
export const KNOWN_SERVERS: readonly ServerKind[] = [
  {
    name: "typescript",
    files: SCRIPTS,
    commands: [
      ["typescript-language-server", "--stdio"],
      ["vtsls", "--stdio"],
      ["tsgo", "--lsp", "--stdio"],
      // From version 7 on, the compiler is a language server.
      ["tsc", "--lsp", "--stdio"],
    ],
  },
  {
    name: "python",
    files: { ".py": "python", ".pyi": "python" },
    commands: [["basedpyright-langserver", "--stdio"], ["pyright-langserver", "--stdio"], ["ty", "server"], ["pylsp"]],
  },
  { name: "go", files: { ".go": "go" }, commands: [["gopls"]], options: { pullDiagnostics: true } },
  { name: "rust", files: { ".rs": "rust" }, commands: [["rust-analyzer"]] },
  {
    name: "c",
    files: {
      ".c": "c",
      ".h": "c",
      ".cc": "cpp",
      ".cpp": "cpp",
      ".cxx": "cpp",
      ".hh": "cpp",
      ".hpp": "cpp",
      ".m": "objective-c",
    },
    commands: [["clangd"]],
  },
  { name: "java", files: { ".java": "java" }, commands: [["jdtls"]] },
  { name: "ruby", files: { ".rb": "ruby" }, commands: [["ruby-lsp"], ["solargraph", "stdio"]] },
  {
    name: "php",
    files: { ".php": "php" },
    commands: [
      ["intelephense", "--stdio"],
      ["phpactor", "language-server"],
    ],
  },
  { name: "lua", files: { ".lua": "lua" }, commands: [["lua-language-server"]] },
  { name: "zig", files: { ".zig": "zig" }, commands: [["zls"]] },
  {
    name: "css",
    files: { ".css": "css", ".scss": "scss", ".less": "less" },
    commands: [["vscode-css-language-server", "--stdio"]],
  },
  { name: "html", files: { ".html": "html" }, commands: [["vscode-html-language-server", "--stdio"]] },
  {
    name: "json",
    files: { ".json": "json", ".jsonc": "jsonc" },
    commands: [["vscode-json-language-server", "--stdio"]],
  },
  { name: "yaml", files: { ".yaml": "yaml", ".yml": "yaml" }, commands: [["yaml-language-server", "--stdio"]] },
  {
    name: "terraform",
    files: { ".tf": "terraform", ".tfvars": "terraform-vars" },
    commands: [["terraform-ls", "serve"]],
  },
  {
    name: "bash",
    files: { ".sh": "shellscript", ".bash": "shellscript" },
    commands: [["bash-language-server", "start"]],
  },
  { name: "vue", files: { ".vue": "vue" }, commands: [["vue-language-server", "--stdio"]] },
  { name: "svelte", files: { ".svelte": "svelte" }, commands: [["svelteserver", "--stdio"]] },
];
