import type { ForeignMeaning, Rule } from "./match.ts";
import { literalGlob } from "./place.ts";
import { type ForeignTool, foreignTool, type OwnTool } from "./tool-names.ts";

/** Banyan's tools that change files. */
export const writers: readonly OwnTool[] = ["edit", "edit_mode", "write"];

/**
 * Parses a rule of Claude Code or codex, such as `Bash(rm:*)`. Returns undefined for an unknown name, and a text with
 * advice for a pattern that can match no call.
 */
export function readForeign(name: string, pattern: string | undefined): ForeignMeaning | string | undefined {
  const tool = foreignTool(name);
  if (tool === undefined) return undefined;
  const parameter = /^(command|file_path|path|url|prompt|subagent_type):(?!\*$)(.*)$/s.exec(pattern ?? "");
  if (parameter !== null && tool.pattern !== undefined)
    return `names the argument '${parameter[1]}', and its pattern is the argument itself; write ${name}(${parameter[2]?.trim()})`;
  if (pattern === undefined) return sameMeaning(tool.tools.map((own) => ({ tool: own })));
  switch (tool.pattern) {
    case "command":
      return readCommandRule(tool, pattern);
    case "domain":
      if (!/^domain:[^/\s]+$/.test(pattern))
        return `names no domain; write ${name}(domain:example.com), or fetch(example.com/docs/*)`;
      return sameMeaning([{ tool: "fetch", pattern }]);
    case "path":
    case "edited path":
      return readPath(name, tool, pattern);
    case undefined:
      return sameMeaning(tool.tools.map((own) => ({ tool: own, pattern })));
  }
}

/** Returns the command pattern for `git push:*`: `git push` and all longer commands. */
export function withoutSuffix(pattern: string): string {
  return pattern.endsWith(":*") ? `${pattern.slice(0, -2).trimEnd()} *` : pattern;
}

function readCommandRule({ tools }: ForeignTool, pattern: string): ForeignMeaning {
  const meant = withoutSuffix(pattern);
  return sameMeaning(tools.map((tool) => (meant === "*" || meant === " *" ? { tool } : { tool, pattern: meant })));
}

/**
 * Path patterns work as in a .gitignore file. `//` begins an absolute path, and `/` a path from the folder of the
 * settings. A deny or ask rule covers all of these meanings, an allow rule only the narrowest.
 */
function readPath(name: string, { tools, pattern: kind }: ForeignTool, written: string): ForeignMeaning {
  const isEdit = kind === "edited path";
  // An agent that must not read a file must not learn its name by `list` either.
  const restrained: readonly OwnTool[] = name === "Read" ? [...tools, "list"] : isEdit ? writers : tools;
  const narrow = translatedPath(written);
  return {
    allows: (isEdit ? writers : tools).map((tool) => ({ tool, pattern: literally(narrow) })),
    restrains: restrained.flatMap((tool) => wide(written, narrow).map((pattern) => ({ tool, pattern }))),
  };
}

function translatedPath(written: string): string {
  if (written.startsWith("//")) return written.slice(1);
  return written.replace(/^\.?\/+(?=.)/, "");
}

function wide(written: string, narrow: string): readonly string[] {
  const path = narrow.replace(/\/+$/, "");
  const isAnchored = /^\/|^~\/|^\.\.\//.test(path) || (path.includes("/") && !path.startsWith("**/"));
  const places = [path, ...(isAnchored ? [] : [`**/${path}`]), ...(/^\/[^/]/.test(written) ? [written] : [])];
  const all = places.flatMap((place) => (place.endsWith("**") ? [place] : [place, `${place}/**`]));
  return [...new Set([...all, ...all.map(literally)])];
}

/** Braces and parentheses are literal in a .gitignore file. */
function literally(pattern: string): string {
  return pattern.replace(/(?<!\\)[{}()|+@!]/g, literalGlob);
}

function sameMeaning(rules: readonly Rule[]): ForeignMeaning {
  return { allows: rules, restrains: rules };
}
