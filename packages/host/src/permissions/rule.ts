import { z } from "zod";
import { readForeign, withoutSuffix } from "./foreign-rule.ts";
import type { Rule } from "./match.ts";
import { meansTool, type NamedTool } from "./named-tool.ts";
import { harmlessOf, hasHarmless } from "./shell/harmless.ts";
import { adviceOnName, isAbsentTool, isToolName } from "./tool-names.ts";

export { type ApprovalMode, approvalModes } from "@banyan/protocol/values";

/**
 * Permission rules. Deny rules override ask rules, and ask rules override allow rules. The order within a list has no
 * effect.
 */
export interface Rules {
  readonly deny: readonly Rule[];
  readonly ask: readonly Rule[];
  readonly allow: readonly Rule[];
}

/** No permission rules. */
export const noRules: Rules = Object.freeze({ deny: [], ask: [], allow: [] });

/**
 * The error of an invalid rule. The message names the rule and the problem.
 * @example
 * await openHost({ cwd: ".", env: process.env, home: homedir(), canAsk: false }).catch((error) => {
 *   if (error instanceof RuleError) console.error(error.rule, error.problem);
 * });
 */
export class RuleError extends Error {
  override readonly name = "RuleError";
  /** The invalid text. */
  readonly rule: string;
  /** The end of a sentence after the rule. */
  readonly problem: string;

  constructor(rule: string, problem: string) {
    super(`The rule '${rule}' ${problem}. Write TOOL, TOOL(PATTERN) or *, as in shell(npm test*).`);
    this.rule = rule;
    this.problem = problem;
  }
}

/**
 * Parses `tool`, `tool(pattern)`, `mcp__server__tool`, `mcp_server_*(pattern)`, `*`, and rules of Claude Code and codex
 * such as `Bash(rm:*)` (S34). Throws a `RuleError` for other texts, and for a pattern that can match no call. Does not
 * check whether the tool exists.
 */
export function parseRule(text: string): Rule {
  const rule = text.trim();
  if (rule === "") throw new RuleError(text, "is empty");
  if (rule === "*") return { tool: "*" };
  const open = rule.indexOf("(");
  const tool = open === -1 ? rule : rule.slice(0, open).trim();
  if (/^mcp__[^*]/.test(tool)) {
    const problem = problemOfName(tool);
    if (problem !== undefined) throw new RuleError(text, problem);
  } else if (tool.includes("*") && !/^mcp_[\w-]{0,60}\*$/.test(tool)) {
    const why = "only the names of MCP tools can be left open, at their end, as in mcp_files_*";
    throw new RuleError(text, `has a '*' in the name of a tool, and ${why}`);
  } else if (!/^[\w-]{1,64}\*?$/.test(tool)) {
    throw new RuleError(text, tool === "" ? "names no tool" : `has no tool's name in front: '${tool}'`);
  }
  if (open === -1) return makeRule(text, tool, undefined);
  if (!rule.endsWith(")")) throw new RuleError(text, "does not end with ')'");
  const pattern = rule.slice(open + 1, -1).trim();
  if (pattern === "") throw new RuleError(text, `has an empty pattern; for every call of the tool write '${tool}'`);
  if (pattern.startsWith("!"))
    throw new RuleError(text, "has a pattern that starts with '!', and patterns cannot be negated; use a deny rule");
  if (pattern.includes("\0") || pattern.length > 4096)
    throw new RuleError(text, "has a pattern with a null byte or of more than 4,096 characters");
  const command = harmlessOf(pattern);
  if (pattern === "[harmless]" || (command !== undefined && (tool !== COMMAND || !hasHarmless(command))))
    throw new RuleError(
      text,
      `speaks of the harmless options of '${command ?? ""}', and none are known; write the exact command, or ' *' for all its uses`,
    );
  return makeRule(text, tool, tool === COMMAND ? withoutSuffix(pattern) : pattern);
}

function makeRule(text: string, tool: string, pattern: string | undefined): Rule {
  const means = readForeign(tool, pattern);
  if (typeof means === "string") throw new RuleError(text, means);
  if (means !== undefined)
    return { ...means.allows[0], tool: means.allows[0]?.tool ?? tool, written: text.trim(), means };
  return pattern === undefined ? { tool } : { tool, pattern };
}

/** Parses a rule and checks the name of its tool. Throws a `RuleError`. `others`: known tools that are not Banyan's. */
export function checkedRule(text: string, list: keyof Rules, others: readonly string[] = []): Rule {
  const rule = parseRule(text);
  const name = rule.written === undefined ? rule.tool : "*";
  if (name !== "*" && !isToolName(name) && !others.includes(name))
    throw new RuleError(text, `names no tool; ${adviceOnName(name, others)}`);
  if (list === "allow" && /^mcp__(?!.*__).*\*$/.test(name))
    throw new RuleError(text, "allows tools of servers that it does not name; write mcp__SERVER__*");
  return rule;
}

/** Converts allow rules on tools of other programs to rules on Banyan's tools. */
export function allowRules(rules: readonly Rule[]): readonly Rule[] {
  return rules.flatMap(({ means, ...rule }) => means?.allows.map((one) => ({ ...rule, ...one })) ?? [rule]);
}

/** Converts deny or ask rules on tools of other programs to rules on Banyan's tools. */
export function restrainRules(rules: readonly Rule[]): readonly Rule[] {
  return rules.flatMap(({ means, ...rule }) => means?.restrains.map((one) => ({ ...rule, ...one })) ?? [rule]);
}

/** Returns sentences about rules on tools of other programs that Banyan does not have. */
export function absentNames({ deny, ask, allow }: Rules): string[] {
  return [...deny, ...ask, ...allow].flatMap((rule) =>
    isAbsentTool(rule.tool)
      ? [`The rule '${formatRule(rule)}' has no effect: Banyan has no tool like ${rule.tool}.`]
      : [],
  );
}

/** Servers and tools may have spaces and dots in their names. */
function problemOfName(name: string): string | undefined {
  if (name.length > 256 || /[\p{Cc}]/u.test(name))
    return "names a tool in more than 256 characters, or with control characters";
  if (name.slice(0, -1).includes("*"))
    return "has a '*' inside a name, and only its end can be left open, as in mcp__files__*";
  return undefined;
}

/** Returns whether a rule is about a tool. */
export function isAbout({ tool: written }: Rule, tool: NamedTool): boolean {
  return written === "*" || meansTool(written, tool);
}

/** Formats a rule for `parseRule`. */
export function formatRule(rule: Rule): string {
  if (rule.written !== undefined) return rule.written;
  return rule.pattern === undefined ? rule.tool : `${rule.tool}(${rule.pattern})`;
}

/** Joins the rules of several sources into one set. No source takes precedence. */
export function joinRules(...sources: readonly Rules[]): Rules {
  return {
    deny: sources.flatMap((rules) => rules.deny),
    ask: sources.flatMap((rules) => rules.ask),
    allow: sources.flatMap((rules) => rules.allow),
  };
}

/**
 * The name of rules about commands. Five names cover actions of any tool, not only of the tool with that name (S43).
 * `shell(git log *)` covers commands, `write(**)` and `edit(**)` cover changes of files, `read(**)` covers showing file
 * content, and `fetch(example.org)` covers requests.
 */
export const COMMAND = "shell";
export const READING = "read";
export const WRITING = "write";
export const EDITING = "edit";
export const FETCHING = "fetch";

/** Returns whether rules with this name cover every change of a file, by any tool. */
export function changesFiles(name: string): boolean {
  return name === WRITING || name === EDITING;
}

const listOf = (list: keyof Rules) =>
  z.array(
    z.string('a rule, as in "shell(npm test*)"').superRefine((text, context) => {
      try {
        checkedRule(text, list);
      } catch (error) {
        if (!(error instanceof RuleError)) throw error;
        const message = `a rule: TOOL, TOOL(PATTERN) or *. The rule '${text}' ${error.problem}`;
        context.addIssue({ code: "custom", message });
      }
    }),
    "a list of rules",
  );

/** The schema of rules in settings: lists of texts. */
export const permissionEntries = z.strictObject(
  {
    deny: listOf("deny").describe("Calls that never run. Overrides `ask` and `allow`.").optional(),
    ask: listOf("ask").describe("Calls that always need your approval. Overrides `allow`.").optional(),
    allow: listOf("allow").describe("Calls that run without asking.").optional(),
  },
  "an object with the lists deny, ask and allow",
);

/** Permission rules in settings, as texts for `parseRule`. */
export type PermissionEntries = Readonly<z.infer<typeof permissionEntries>>;

/** Parses lists of rules. Throws a `RuleError`. `others`: known tools that are not Banyan's. */
export function rulesFrom(entries: PermissionEntries = {}, others: readonly string[] = []): Rules {
  const read = (list: keyof Rules) => (entries[list] ?? []).map((text) => checkedRule(text, list, others));
  return { deny: read("deny"), ask: read("ask"), allow: read("allow") };
}
