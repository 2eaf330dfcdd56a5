import type { Json, Tool } from "@banyan/core";
import { addressSubject } from "./address-subject.ts";
import { type Match, strongest } from "./match.ts";
import { pathSubject } from "./path-subject.ts";
import type { PathScope } from "./place.ts";
import { parseRule, type Rule } from "./rule.ts";
import { shellSubject } from "./shell/shell-subject.ts";
import { LONGEST_PATH, textSubject, textsIn } from "./text-subject.ts";

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
 * MCP server may have more than its main argument to do harm with: a rule that forbids is held against all its texts,
 * and one that allows must fit every other place that they name too, as the `destination` of a copy (S24).
 */
export function subjectOf(tool: Tool, input: Json, surroundings: Surroundings): Subject {
  const { subject: main, like } = mainSubject(tool, input, surroundings);
  if (!tool.name.startsWith("mcp_")) return main;
  const texts = textSubject(tool, input, surroundings);
  const others = like ? textsIn(input).filter(mayBePlace).map(like) : [];
  const allowed = (rules: readonly Rule[]) => [main, ...others].every((place) => place.allowed(rules));
  return {
    matches: (rule) => strongest([main.matches(rule), texts.matches(rule)]),
    allowed,
    suggestion(rules) {
      const suggested = main.suggestion(rules);
      // What is offered covers the call that it is offered for.
      return suggested !== undefined && allowed([...rules, parseRule(suggested)]) ? suggested : undefined;
    },
  };
}

/** With `like`, other texts are judged as the main one is. */
function mainSubject(
  tool: Tool,
  input: Json,
  surroundings: Surroundings,
): { readonly subject: Subject; readonly like?: (text: string) => Subject } {
  const fields: Readonly<Record<string, Json>> =
    input !== null && typeof input === "object" && !Array.isArray(input) ? (input as Record<string, Json>) : {};
  const text = (name: string): string | undefined => (typeof fields[name] === "string" ? fields[name] : undefined);
  const path = text("path") ?? text("file_path") ?? (tool.name === "list" || tool.name === "search" ? "." : undefined);
  const command = text("command");
  const url = text("url");
  if (tool.name === "shell" && command !== undefined) return { subject: shellSubject(command, surroundings) };
  if (path !== undefined && tool.name !== "shell") {
    const like = (other: string) => pathSubject(tool, other, surroundings);
    return { subject: like(path), like };
  }
  if (url !== undefined) return { subject: addressSubject(tool, url), like: (other) => addressSubject(tool, other) };
  return { subject: textSubject(tool, input, surroundings) };
}

/** Whether a text may name a file or an address: one line with a slash, a tilde or a dot before more of it. */
function mayBePlace(text: string): boolean {
  const line = text.trim();
  return line.length <= LONGEST_PATH && !/[\n\r]/.test(line) && /[/\\~]|\.\S|^\.$/.test(line);
}
