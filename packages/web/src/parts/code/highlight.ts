import { common, createLowlight } from "lowlight";
import type { CodeGrammar } from "./languages.ts";

/** The kind of a code token, in the names of the terminal's theme. */
export type CodeTokenKind = keyof typeof SCOPES;

export interface CodePiece {
  readonly text: string;
  readonly kind?: CodeTokenKind;
}

/** Maximum number of UTF-16 units of highlighted code: more would create too many elements and block the page. */
const LONGEST = 30_000;

/** The scope names of grammars, by kind; other scopes inherit the colour around them. */
const SCOPES = {
  keyword: "keyword selector-tag operator",
  string: "string regexp char selector-attr",
  number: "number literal symbol",
  comment: "comment quote doctag meta",
  name: "title section name attr attribute selector-class selector-id",
  type: "built_in type class",
  good: "addition",
  bad: "deletion",
} as const;

const KINDS = new Map(
  Object.entries(SCOPES).flatMap(([kind, scopes]) =>
    scopes.split(" ").map((scope) => [scope, kind as CodeTokenKind] as const),
  ),
);

const grammars = createLowlight();

/** Highlights code with a grammar, which is registered at its first use. */
export function highlight(code: string, grammar: CodeGrammar): readonly CodePiece[] {
  const known = common[grammar];
  if (code.length > LONGEST || !known) return [{ text: code }];
  if (!grammars.registered(grammar)) grammars.register(grammar, known);
  const pieces: CodePiece[] = [];
  type HighlightNode = ReturnType<typeof grammars.highlight>["children"][number];
  const open: { readonly node: HighlightNode; readonly kind: CodeTokenKind | undefined }[] = [];
  const add = (nodes: readonly HighlightNode[], kind: CodeTokenKind | undefined) => {
    for (const node of nodes.toReversed()) open.push({ node, kind });
  };
  add(grammars.highlight(grammar, code).children, undefined);
  for (let next = open.pop(); next; next = open.pop()) {
    const { node, kind } = next;
    if (node.type === "text") pieces.push({ text: node.value, ...(kind && { kind }) });
    else if (node.type === "element") {
      const [scope = ""] = Array.isArray(node.properties.className) ? node.properties.className : [];
      add(node.children as HighlightNode[], KINDS.get(String(scope).replace(/^hljs-/, "")) ?? kind);
    }
  }
  return pieces;
}
