import type { Node } from "web-tree-sitter";
import { namelessScopes, namesInField, SLASHES, type SymbolGrammar } from "../grammar.ts";

export const rust: SymbolGrammar = {
  file: "rust",
  symbols: namesInField(
    "associated_type",
    "const_item",
    "enum_item",
    "enum_variant",
    "function_item",
    "function_signature_item",
    "macro_definition",
    "mod_item",
    "static_item",
    "struct_item",
    "trait_item",
    "type_item",
    "union_item",
  ),
  scopes: {
    ...namelessScopes("block", "declaration_list", "enum_variant_list", "foreign_mod_item"),
    impl_item: (node) => typeName(node.childForFieldName("type")),
  },
  statements: () => false,
  functions: new Set(),
  leads: new Set(["attribute_item", "block_comment", "line_comment"]),
  trailing: SLASHES,
};

function typeName(type: Node | null): string | undefined {
  switch (type?.type) {
    case "generic_type":
    case "reference_type":
      return typeName(type.childForFieldName("type"));
    case "scoped_type_identifier":
      return type.childForFieldName("name")?.text;
    default:
      return type?.text;
  }
}
