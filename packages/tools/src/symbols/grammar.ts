import type { Node } from "web-tree-sitter";

/** The names of the symbols that a node declares; none when it declares nothing that is to be found. */
export type Names = (node: Node, inFunction: boolean) => readonly string[];

/** What there is to know of a language in terms of the nodes of its grammar, by their types. */
export interface Grammar {
  /** The file in `@vscode/tree-sitter-wasm`, without `tree-sitter-` and `.wasm`. */
  readonly file: string;
  /** What declares symbols. Inside, there may be more, whose names begin with that of this one. */
  readonly symbols: Readonly<Record<string, Names>>;
  /** What is no symbol itself but may have some inside, whose names may begin with a name that it answers. */
  readonly scopes: Readonly<Record<string, (node: Node) => string | undefined>>;
  /** What a declaration is a part of, with which it is to be replaced: `export`, decorators, `const`. */
  readonly statements: (node: Node) => boolean;
  /** Inside these, variables are not symbols. */
  readonly functions: ReadonlySet<string>;
  /** What belongs to the symbol below it: comments, attributes. */
  readonly leads: ReadonlySet<string>;
  /** How a comment at the end of a line may look. */
  readonly trailing: RegExp;
}

/** Node types whose names stand in their field `name`. */
export function named(...types: readonly string[]): Record<string, Names> {
  return Object.fromEntries(types.map((type) => [type, namesOf]));
}

/** Node types that have symbols inside but no name. */
export function nameless(...types: readonly string[]): Grammar["scopes"] {
  return Object.fromEntries(types.map((type) => [type, () => undefined]));
}

/** A comment that may end a line, in the languages that look like C. */
export const SLASHES = /\/\/.*|\/\*(?:(?!\*\/).)*\*\//;

function namesOf(node: Node): readonly string[] {
  // The grammar of Go has the commas between names in this field too.
  return node
    .childrenForFieldName("name")
    .filter((name) => name.isNamed)
    .map((name) => name.text);
}
