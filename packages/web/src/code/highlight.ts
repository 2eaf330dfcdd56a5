import { common, createLowlight } from "lowlight";
import type { Grammar } from "./languages.ts";

/** What a piece of code is, as far as its colour says so; the words of the terminal's theme. */
export type Kind = keyof typeof SCOPES;

/** A piece of code in one colour. */
export interface Piece {
  readonly text: string;
  readonly kind?: Kind;
}

/** UTF-16 units of code that is coloured: a longer one would fill the page with elements, and keep it from answering. */
const LONGEST = 30_000;

/** The names that grammars give to pieces, by what the piece is; what is not here has the colour of what is around it. */
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
  Object.entries(SCOPES).flatMap(([kind, scopes]) => scopes.split(" ").map((scope) => [scope, kind as Kind] as const)),
);

const grammars = createLowlight();

/** The pieces of code, by its grammar. A grammar is made ready when the first code for it comes. */
export function highlight(code: string, grammar: Grammar): readonly Piece[] {
  const known = common[grammar];
  if (code.length > LONGEST || !known) return [{ text: code }];
  if (!grammars.registered(grammar)) grammars.register(grammar, known);
  const pieces: Piece[] = [];
  type Node = ReturnType<typeof grammars.highlight>["children"][number];
  const open: { readonly node: Node; readonly kind: Kind | undefined }[] = [];
  const add = (nodes: readonly Node[], kind: Kind | undefined) => {
    for (const node of nodes.toReversed()) open.push({ node, kind });
  };
  add(grammars.highlight(grammar, code).children, undefined);
  for (let next = open.pop(); next; next = open.pop()) {
    const { node, kind } = next;
    if (node.type === "text") pieces.push({ text: node.value, ...(kind && { kind }) });
    else if (node.type === "element") {
      const [scope = ""] = Array.isArray(node.properties.className) ? node.properties.className : [];
      add(node.children as Node[], KINDS.get(String(scope).replace(/^hljs-/, "")) ?? kind);
    }
  }
  return pieces;
}
