import { resolve } from "node:path";
import type { Tool } from "@banyan/core";
import type { Rule } from "./match.ts";
import { type PathScope, pathMatcher } from "./place.ts";
import { type ApprovalMode, formatRule, isAbout, READING, type Rules, restrainRules } from "./rule.ts";

/** Returns whether a rule about reading also covers this tool (S21). Tools that change files show content, too. */
export function isAboutReading(rule: Rule, { files }: Tool): boolean {
  return rule.tool === READING && files !== undefined;
}

/**
 * Returns a function that explains why a file's content must not be shown; it returns undefined for permitted files.
 * Deny rules always apply. An ask rule applies unless it also matches the name that the user approved, so that a link
 * does not bypass the question. In mode `all`, no ask rule applies. `path`: the file's real path.
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
    const [file, target] = [resolve(scope.root, path), resolve(scope.root, named)];
    const closed = denying.find(({ fits }) => fits(file));
    if (closed) return `the rule '${closed.text}' forbids it.`;
    if (mode() === "all") return undefined;
    const open = asking.find(({ fits }) => fits(file) && !fits(target));
    return open && `the rule '${open.text}' asks about ${path}. Name it by this path.`;
  };
}

const always = () => true;
