import { resolve } from "node:path";
import type { Tool } from "@banyan/core";
import type { ApprovalMode } from "./permissions.ts";
import { fitting, type PathScope } from "./place.ts";
import { formatRule, isAbout, READING, type Rule, type Rules, restrained } from "./rule.ts";

/**
 * Whether a rule that forbids or asks about reading speaks of this tool, too (S21): of all that tell what is in files. A
 * change is told with what stood there before.
 */
export function isAboutReading(rule: Rule, { files }: Tool): boolean {
  return rule.tool === READING && files !== undefined;
}

/**
 * Why the content of a file of the workspace may not be told, in a sentence; nothing when it may. A rule that denies
 * holds whatever was named. One that asks is kept when what was named fits it too, since then a person said yes; so a
 * link, or a folder around the file, is no way past the question. In the mode `all` nothing is asked. Undefined when no
 * rule speaks of reading.
 *
 * `path` is where the file lies, without links; both are relative to the workspace, or absolute.
 */
export function readingRules(
  scope: PathScope,
  { deny, ask }: Rules,
  mode: () => ApprovalMode,
): ((path: string, named: string) => string | undefined) | undefined {
  const judged = (rules: readonly Rule[]) =>
    restrained(rules)
      .filter((rule) => isAbout(rule, { name: READING }))
      .map((rule) => ({
        text: formatRule(rule),
        fits: rule.pattern === undefined ? always : fitting(rule.pattern, scope),
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
