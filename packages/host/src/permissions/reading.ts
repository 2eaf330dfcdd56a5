import { resolve } from "node:path";
import type { Tool } from "@banyan/core";
import type { Rule } from "./match.ts";
import { type PathScope, pathMatcher } from "./place.ts";
import { type ApprovalMode, formatRule, isAbout, READING, type Rules, restrainRules } from "./rule.ts";

/**
 * Returns whether a deny or ask rule about reading also covers this tool (S21): all tools that show file content, including
 * changes, which show the previous content.
 */
export function isAboutReading(rule: Rule, { files }: Tool): boolean {
  return rule.tool === READING && files !== undefined;
}

/**
 * Returns a function that explains, in a sentence, why the content of a workspace file must not be shown; the function
 * returns undefined if it may be. Deny rules always hold. An ask rule holds unless it also matches the name that the user
 * approved; so a link, or a folder around the file, does not bypass the question. In mode `all` no ask rule holds. Returns
 * undefined if no rule is about reading.
 * `path`: the file's real path. Both are relative to the workspace, or absolute.
 */
export function readingRules(
  scope: PathScope,
  { deny, ask }: Rules,
  mode: () => ApprovalMode,
): ((path: string, named: string) => string | undefined) | undefined {
  const judged = (rules: readonly Rule[]) =>
    restrainRules(rules)
      .filter((rule) => isAbout(rule, { name: READING }))
      .map((rule) => ({
        text: formatRule(rule),
        fits: rule.pattern === undefined ? always : pathMatcher(rule.pattern, scope),
      }));
  const denying = judged(deny);
  const asking = judged(ask);
  if (denying.length + asking.length === 0) return undefined;
  return (path, named) => {
    const [file, asked] = [resolve(scope.root, path), resolve(scope.root, named)];
    const closed = denying.find(({ fits }) => fits(file));
    if (closed) return `the rule '${closed.text}' forbids it.`;
    if (mode() === "all") return undefined;
    const open = asking.find(({ fits }) => fits(file) && !fits(asked));
    return open && `the rule '${open.text}' asks about ${path}. Name it by this path.`;
  };
}

const always = () => true;
