import type { Node } from "web-tree-sitter";
import { type NodeNames, namelessScopes, namesInField, SLASHES, type SymbolGrammar } from "../grammar.ts";

const FUNCTIONS = new Set([
  "arrow_function",
  "function_declaration",
  "function_expression",
  "generator_function",
  "generator_function_declaration",
  "method_definition",
]);

const STATEMENTS = new Set([
  "ambient_declaration",
  "export_statement",
  "expression_statement",
  "lexical_declaration",
  "variable_declaration",
]);

const symbols: Readonly<Record<string, NodeNames>> = {
  ...namesInField(
    "abstract_class_declaration",
    "abstract_method_signature",
    "class_declaration",
    "enum_declaration",
    "function_declaration",
    "function_signature",
    "generator_function_declaration",
    "interface_declaration",
    "internal_module",
    "method_definition",
    "method_signature",
    "module",
    "property_signature",
    "public_field_definition",
    "type_alias_declaration",
  ),
  field_definition: (node) => nodeText(node.childForFieldName("property")),
  pair: (node, inFunction) => (inFunction ? [] : nodeText(node.childForFieldName("key"))),
  // `const f = () => {}` is always a symbol, other variables only outside functions. `const { a, b } = c` has no name.
  variable_declarator(node, inFunction) {
    const name = node.childForFieldName("name");
    if (name?.type !== "identifier") return [];
    return !inFunction || isDefinition(node.childForFieldName("value")) ? [name.text] : [];
  },
  assignment_expression(node, inFunction) {
    const left = node.childForFieldName("left");
    return !inFunction && left?.type === "member_expression" ? [left.text] : [];
  },
  // `export default () => {}`. An exported declaration has its own name.
  export_statement: (node) => (node.childForFieldName("value") ? ["default"] : []),
};

export const typescript: SymbolGrammar = {
  file: "typescript",
  symbols,
  scopes: namelessScopes(
    "arrow_function",
    "as_expression",
    "class",
    "class_body",
    "function_expression",
    "generator_function",
    "interface_body",
    "object",
    "object_type",
    "parenthesized_expression",
    "satisfies_expression",
    "statement_block",
  ),
  statements: (node) => STATEMENTS.has(node.type),
  functions: FUNCTIONS,
  leads: new Set(["comment", "decorator"]),
  trailing: SLASHES,
};

export const tsx: SymbolGrammar = { ...typescript, file: "tsx" };

export const javascript: SymbolGrammar = { ...typescript, file: "javascript" };

function isDefinition(value: Node | null): boolean {
  return value !== null && (FUNCTIONS.has(value.type) || value.type === "class");
}

function nodeText(name: Node | null): readonly string[] {
  return name ? [name.text] : [];
}
