import { expect, test } from "vitest";
import { rules } from "./call.fixture.ts";
import { formatRule, joinRules, parseRule, RuleError } from "./rule.ts";

test.each([
  ["shell", { tool: "shell" }],
  ["*", { tool: "*" }],
  [" edit( src/** ) ", { tool: "edit", pattern: "src/**" }],
  ["shell(npm test*)", { tool: "shell", pattern: "npm test*" }],
  ["shell(echo (a))", { tool: "shell", pattern: "echo (a)" }],
  ["mcp_files-2(x)", { tool: "mcp_files-2", pattern: "x" }],
  ["mcp_files_*", { tool: "mcp_files_*" }],
  ["mcp_files_read_*(src/**)", { tool: "mcp_files_read_*", pattern: "src/**" }],
  ["mcp_*", { tool: "mcp_*" }],
])("B63: %j is a rule, and is written back so that it reads the same", (text, expected) => {
  const rule = parseRule(text);
  expect(rule).toEqual(expected);
  expect(parseRule(formatRule(rule))).toEqual(rule);
});

test.each([
  ["", "is empty"],
  ["shell(npm test", "does not end with ')'"],
  ["shell()", "has an empty pattern"],
  ["(npm test)", "names no tool"],
  ["npm test", "has no tool's name in front: 'npm test'"],
  ["shell(x) y", "does not end with ')'"],
  ["edit(!src/**)", "cannot be negated"],
  ["*(x)", "only the names of MCP tools can be left open, at their end, as in mcp_files_*"],
  ["shell*", "has a '*' in the name of a tool, and only the names of MCP tools can be left open"],
  ["mcp*", "only the names of MCP tools can be left open"],
  ["mcp_*_read", "only the names of MCP tools can be left open, at their end"],
  ["mcp_files_**", "only the names of MCP tools can be left open"],
  ["mcp.files", "has no tool's name in front: 'mcp.files'"],
])("B63: the error for %j names the fault and the right form", (text, problem) => {
  expect(() => parseRule(text)).toThrow(RuleError);
  expect(() => parseRule(text)).toThrow(`The rule '${text}' `);
  expect(() => parseRule(text)).toThrow(problem);
  expect(() => parseRule(text)).toThrow("Write TOOL, TOOL(PATTERN) or *");
});

test("B63: rules of several sources count as one list each", () => {
  const joined = joinRules(rules({ deny: ["a"], allow: ["b"] }), rules({ ask: ["c"], allow: ["d"] }));
  expect(joined).toEqual(rules({ deny: ["a"], ask: ["c"], allow: ["b", "d"] }));
});
