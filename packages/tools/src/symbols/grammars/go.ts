import type { Node } from "web-tree-sitter";
import { namelessScopes, namesInField, SLASHES, type SymbolGrammar } from "../grammar.ts";

const DECLARATIONS = new Set(["const_declaration", "type_declaration", "var_declaration"]);

export const go: SymbolGrammar = {
  file: "go",
  symbols: {
    ...namesInField("const_spec", "function_declaration", "method_elem", "type_alias", "type_spec", "var_spec"),
    method_declaration: (node) => [`${receiverOf(node)}.${node.childForFieldName("name")?.text}`],
  },
  scopes: namelessScopes(...DECLARATIONS, "interface_type", "var_spec_list"),
  // Without parentheses, which could contain several declarations.
  statements: (node) => DECLARATIONS.has(node.type) && node.child(1)?.type !== "(",
  functions: new Set(),
  leads: new Set(["comment"]),
  trailing: SLASHES,
};

function receiverOf(method: Node): string | undefined {
  let type = method.childForFieldName("receiver")?.namedChild(0)?.childForFieldName("type") ?? undefined;
  while (type && type.type !== "type_identifier") type = type.namedChild(0) ?? undefined;
  return type?.text;
}
