import type { Json, Tool } from "@banyan/core";
import { addressSubject } from "./address-subject.ts";
import { type Match, strongest } from "./match.ts";
import { pathSubject } from "./path-subject.ts";
import type { PathScope } from "./place.ts";
import type { Rule } from "./rule.ts";
import { shellSubject } from "./shell/shell-subject.ts";
import { textSubject } from "./text-subject.ts";

/** What a call is about, as rules see it. */
export interface Subject {
  /** Whether a rule that forbids or asks speaks of this call. */
  matches(rule: Rule): Match;
  /** Whether rules together allow the whole call, or it needs none. */
  allowed(rules: readonly Rule[]): boolean;
  /** The rule that would allow this call and its like, next to the rules that there are; undefined where no single safe rule does. */
  suggestion(rules: readonly Rule[]): string | undefined;
}

export interface Surroundings {
  readonly scope: PathScope;
  /** Whether files of the workspace may be written without a rule. */
  readonly writes: boolean;
}

/**
 * The main argument of a call: the command of `shell`, the path of a tool that has one (`path` or `file_path`; `list`
 * and `search` start at `.`), the address of one that has a `url`. Of any other tool, all its texts: a rule that
 * forbids fits when one of them does, a rule that allows when all do, since the model chooses their order. A tool of an
 * MCP server may have more than its main argument to do harm with: a rule that forbids is held against all its texts.
 */
export function subjectOf(tool: Tool, input: Json, surroundings: Surroundings): Subject {
  const main = mainSubject(tool, input, surroundings);
  if (!tool.name.startsWith("mcp_")) return main;
  const texts = textSubject(tool, input, surroundings);
  return { ...main, matches: (rule) => strongest([main.matches(rule), texts.matches(rule)]) };
}

function mainSubject(tool: Tool, input: Json, surroundings: Surroundings): Subject {
  const fields: Readonly<Record<string, Json>> =
    input !== null && typeof input === "object" && !Array.isArray(input) ? (input as Record<string, Json>) : {};
  const text = (name: string): string | undefined => (typeof fields[name] === "string" ? fields[name] : undefined);
  const path = text("path") ?? text("file_path") ?? (tool.name === "list" || tool.name === "search" ? "." : undefined);
  const command = text("command");
  const url = text("url");
  if (tool.name === "shell" && command !== undefined) return shellSubject(command, surroundings);
  if (path !== undefined && tool.name !== "shell") return pathSubject(tool, path, surroundings);
  if (url !== undefined) return addressSubject(tool, url);
  return textSubject(tool, input, surroundings);
}
