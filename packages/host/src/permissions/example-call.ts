import { homedir } from "node:os";
import type { Json, Tool } from "@banyan/core";
import type { About } from "@banyan/core/conversation";
import { writers } from "./foreign-rule.ts";
import type { Rule } from "./match.ts";
import { pathScope } from "./place.ts";
import { allowRules, COMMAND, FETCHING, formatRule, type Rules, restrainRules } from "./rule.ts";
import { harmlessOf } from "./shell/harmless.ts";
import { subjectOf } from "./subject.ts";

const OF_PATHS: ReadonlySet<string> = new Set(["read", "list", "search", "diagnostics", "symbol", ...writers]);

/** Returns a call that a rule matches, such as `shell(rm x)` (S34); undefined if none was found. */
export function exampleCall(rule: Rule, list: keyof Rules, workspace: string): string | undefined {
  const readings = list === "allow" ? allowRules([rule]) : restrainRules([rule]);
  for (const reading of readings) {
    const [tool, input, text] = callFor(reading);
    const isWriter = (name: string) => writers.some((writer) => writer === name);
    const subject = subjectOf(tool, input, { scope: pathScope(workspace, homedir()), writes: false, isWriter });
    const isAll = reading.tool === "*" || (list === "allow" && reading.pattern === undefined);
    if (isAll || (list === "allow" ? subject.allowed([reading]) : subject.matches(reading) === "yes"))
      return formatRule({ tool: tool.name, ...(text !== undefined && { pattern: text }) });
  }
  return undefined;
}

function callFor({ tool: written, pattern }: Rule): [tool: Tool, input: Json, text?: string] {
  const text = pattern === undefined ? undefined : exampleText(written, pattern);
  const base = { description: "", input: { type: "object" }, effects: "external", execute: () => "" } as const;
  const name = written === "*" ? COMMAND : written.replace("*", "x");
  if (written.startsWith("mcp_")) {
    const [, server = "x", tool = "x"] = /^mcp__(.+?)(?:__(.+))?$/.exec(name) ?? [];
    const offered = { offeredBy: server, offeredAs: tool, about: aboutPath };
    const own = written.startsWith("mcp__") ? `mcp__${server}__${tool}` : name;
    return [{ ...base, ...offered, name: own }, { path: text ?? "x" }, text];
  }
  const value = text ?? "x";
  if (name === COMMAND) return [{ ...base, name, about: () => ({ command: value }) }, { command: value }, text];
  if (name === FETCHING) return [{ ...base, name, about: () => ({ url: value }) }, { url: value }, text];
  const isOfPaths = OF_PATHS.has(name);
  const files = writers.some((writer) => writer === name) ? "write" : isOfPaths ? "read" : undefined;
  return [{ ...base, name, files, ...(isOfPaths && { about: aboutPath }) }, { path: value }, text];
}

function aboutPath(input: unknown): About {
  const { path } = input as { readonly path: string };
  return { paths: [{ path, access: "write" }] };
}

function exampleText(tool: string, pattern: string): string {
  if (tool === COMMAND) return harmlessOf(pattern) ?? pattern.replaceAll("*", "x");
  if (tool === FETCHING) {
    const address = pattern.replace(/^domain:/, "").replaceAll("*", "x");
    return /^[a-z]+:\/\//i.test(address) ? address : `https://${address}`;
  }
  if (!OF_PATHS.has(tool) && !tool.startsWith("mcp_")) return pattern.replaceAll("*", "x");
  return pattern
    .replaceAll("**/", "")
    .replace(/(?<!\\)\*+|(?<!\\)\?/g, "x")
    .replace(/(?<!\\)\{([^,{}]*)[^{}]*\}/g, "$1")
    .replace(/(?<!\\)\[([^\]!^])[^\]]*\]/g, "$1")
    .replaceAll(/\\(.)/g, "$1");
}
