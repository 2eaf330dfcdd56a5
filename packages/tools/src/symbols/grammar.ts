import type { Node } from "web-tree-sitter";

/** Returns the names of the symbols that a syntax node declares; empty if none. */
export type NodeNames = (node: Node, inFunction: boolean) => readonly string[];

/** The rules by which the symbols of a language are found, by node types of its grammar. */
export interface SymbolGrammar {
  /** The name of the file in `@vscode/tree-sitter-wasm`, without `tree-sitter-` and `.wasm`. */
  readonly file: string;
  /** Nodes that declare symbols. The names of inner symbols begin with the name of the outer symbol. */
  readonly symbols: Readonly<Record<string, NodeNames>>;
  /**
   * Nodes that contain symbols but are no symbols themselves. If the function returns a name, this name becomes a
   * prefix of the inner names.
   */
  readonly scopes: Readonly<Record<string, (node: Node) => string | undefined>>;
  /** Returns whether a node is a part of the statement that contains a declaration: `export`, decorators, `const`. */
  readonly statements: (node: Node) => boolean;
  /** Nodes whose inner variables are no symbols. */
  readonly functions: ReadonlySet<string>;
  /** Nodes that belong to the symbol below: comments, attributes. */
  readonly leads: ReadonlySet<string>;
  readonly trailing: RegExp;
}

/** Returns rules for syntax nodes whose field `name` contains the symbol's name. */
export function namesInField(...types: readonly string[]): Record<string, NodeNames> {
  return Object.fromEntries(types.map((type) => [type, fieldNames]));
}

/** Returns rules for syntax nodes that have no name of their own but contain symbols. */
export function namelessScopes(...types: readonly string[]): SymbolGrammar["scopes"] {
  return Object.fromEntries(types.map((type) => [type, () => undefined]));
}

/** Matches a comment at the end of a line in languages with C syntax. */
export const SLASHES = /\/\/.*|\/\*(?:(?!\*\/).)*\*\//;

function fieldNames(node: Node): readonly string[] {
  // The Go grammar also puts the commas between names into this field.
  return node
    .childrenForFieldName("name")
    .filter((name) => name.isNamed)
    .map((name) => name.text);
}
