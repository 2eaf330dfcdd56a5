import { namelessScopes, namesInField, type SymbolGrammar } from "../grammar.ts";

export const python: SymbolGrammar = {
  file: "python",
  symbols: {
    ...namesInField("class_definition", "function_definition"),
    assignment(node, inFunction) {
      const left = node.childForFieldName("left");
      return !inFunction && left?.type === "identifier" ? [left.text] : [];
    },
    type_alias_statement: (node) => [node.childForFieldName("left")?.text ?? ""],
  },
  scopes: namelessScopes(
    "block",
    "elif_clause",
    "else_clause",
    "except_clause",
    "finally_clause",
    "if_statement",
    "try_statement",
    "with_statement",
  ),
  statements: (node) => node.type === "decorated_definition" || node.type === "expression_statement",
  functions: new Set(["function_definition"]),
  leads: new Set(["comment"]),
  trailing: /#.*/,
};
