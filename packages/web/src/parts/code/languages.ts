/** The grammars of the page, with their aliases and file extensions. */
export const GRAMMARS = {
  bash: "sh zsh",
  c: "h",
  cpp: "cc cxx hpp hxx c++",
  csharp: "cs c#",
  css: "",
  diff: "patch",
  go: "golang",
  graphql: "gql",
  ini: "toml",
  java: "",
  javascript: "js jsx mjs cjs node",
  json: "json5 jsonc jsonl ndjson",
  kotlin: "kt kts",
  less: "",
  lua: "",
  makefile: "make mk",
  markdown: "md mdx",
  objectivec: "objc mm",
  perl: "pl pm",
  php: "",
  python: "py py3 python3",
  r: "",
  ruby: "rb",
  rust: "rs",
  scss: "",
  shell: "console shell-session",
  sql: "",
  swift: "",
  typescript: "ts tsx mts cts",
  vbnet: "vb",
  xml: "html htm xhtml svg vue svelte",
  yaml: "yml",
} as const;

export type CodeGrammar = keyof typeof GRAMMARS;

const BY_NAME = new Map(
  (Object.entries(GRAMMARS) as [CodeGrammar, string][]).flatMap(([grammar, names]) =>
    [grammar, ...names.split(" ")].map((name) => [name, grammar] as const),
  ),
);

/** Returns the grammar for a language, file name or extension; `undefined` if there is none. */
export function grammarOf(language: string): CodeGrammar | undefined {
  return BY_NAME.get(/[^/\\.]*$/.exec(language)?.[0].toLowerCase() || "-");
}
