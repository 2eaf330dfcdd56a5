import { all, createLowlight } from "lowlight";
import type { Theme } from "../theme/theme.ts";

/** Highlights code and returns its lines. Returns undefined for an unknown language. */
export type Highlight = (code: string, language: string) => readonly string[] | undefined;

type PaintCode = (text: string) => string;
type Root = ReturnType<ReturnType<typeof createLowlight>["highlight"]>;
type HighlightedNode = Root["children"][number];

/** Creates a syntax highlighter, which compiles grammars at first use. Import this slow module only when needed. */
export function createHighlighter(theme: () => Theme): Highlight {
  const grammars = createLowlight();
  const knows = (language: string): boolean => {
    if (grammars.registered(language)) return true;
    const name = NAMES.get(language) ?? language;
    const grammar = Object.hasOwn(all, name) ? all[name] : undefined;
    if (!grammar) return false;
    // A grammar registers its own aliases; add the name if it is not among them.
    grammars.register(name, grammar);
    if (!grammars.registered(language)) grammars.registerAlias({ [name]: [language] });
    return true;
  };
  return (code, language) => {
    const name = language.toLowerCase();
    return name !== "" && knows(name) ? paintTree(grammars.highlight(name, code), theme()) : undefined;
  };
}

const NAMES = new Map(
  Object.entries({
    bash: "sh shell zsh console shell-session",
    c: "h",
    cpp: "cc cxx hpp hxx c++",
    csharp: "cs c#",
    dockerfile: "docker",
    go: "golang",
    javascript: "js jsx mjs cjs node",
    json: "json5 jsonc jsonl ndjson",
    kotlin: "kt kts",
    makefile: "make mk",
    markdown: "md mdx",
    objectivec: "objc",
    perl: "pl",
    powershell: "ps1 pwsh",
    python: "py py3 python3",
    ruby: "rb",
    rust: "rs",
    typescript: "ts tsx mts cts",
    vbnet: "vb",
    xml: "html htm xhtml svg vue svelte",
    yaml: "yml",
  }).flatMap(([grammar, names]) => names.split(" ").map((name) => [name, grammar] as const)),
);

/** Each line closes its own colours. */
function paintTree(root: Root, theme: Theme): string[] {
  const paints = paintsOf(theme);
  const lines = [""];
  const open: { readonly node: HighlightedNode; readonly paint: PaintCode | undefined }[] = [];
  const add = (nodes: readonly HighlightedNode[], paint: PaintCode | undefined) => {
    for (const node of nodes.toReversed()) open.push({ node, paint });
  };
  add(root.children, undefined);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, paint } = next;
    if (node.type === "text") {
      for (const [index, text] of node.value.split("\n").entries()) {
        if (index > 0) lines.push("");
        lines[lines.length - 1] += paint ? paint(text) : text;
      }
    } else if (node.type === "element") {
      const [name = ""] = Array.isArray(node.properties.className) ? node.properties.className : [];
      add(node.children as HighlightedNode[], paints[String(name).replace(/^hljs-/, "")] ?? paint);
    }
  }
  return lines;
}

/** Colours by the grammars' class names. Other classes have no colour. */
function paintsOf(theme: Theme): Readonly<Record<string, PaintCode | undefined>> {
  const { keyword, string, number, comment, name, type, good, bad } = theme;
  return {
    keyword,
    "selector-tag": keyword,
    operator: keyword,
    literal: number,
    number,
    symbol: number,
    string,
    regexp: string,
    char: string,
    "selector-attr": string,
    comment,
    quote: comment,
    doctag: comment,
    meta: comment,
    title: name,
    section: name,
    name,
    attr: name,
    attribute: name,
    "selector-class": name,
    "selector-id": name,
    built_in: type,
    type,
    class: type,
    addition: good,
    deletion: bad,
  };
}
