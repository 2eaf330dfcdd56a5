import { existsSync } from "node:fs";
import { hookNotices } from "../hooks/entries.ts";
import type { Rule } from "../permissions/match.ts";
import { sharedNames } from "../permissions/named-tool.ts";
import {
  absentNames,
  allowRules,
  checkedRule,
  formatRule,
  type PermissionEntries,
  type Rules,
  rulesFrom,
} from "../permissions/rule.ts";
import { wideRuleNotices } from "../permissions/shell/wide-rule.ts";
import { changeSetting } from "./change.ts";
import type { Configuration } from "./configuration.ts";
import { describeFault, SettingsError } from "./fault.ts";
import { readOneSetting } from "./layer.ts";

/**
 * Reads the rules of a file `{"permissions": {"deny": [], "ask": [], "allow": []}}` and ignores other settings in it.
 * Throws a `SettingsError`, also for a missing file.
 */
export function readRuleFile(file: string): Rules {
  if (!existsSync(file))
    throw new SettingsError({ source: file, problem: "there is no such file", advice: "expected a rule file" });
  return rulesFrom(permissionsIn(file));
}

/**
 * Adds a rule to a file: to its allow list after the answer "always", to its deny list after "never". Creates a missing
 * file. Throws a `RuleError` for an invalid rule, and a `SettingsError` for a broken file, which it does not change.
 */
export function rememberRule(file: string, rule: string | Rule, list: "allow" | "deny" = "allow"): void {
  const text = formatRule(typeof rule === "string" ? checkedRule(rule, list) : rule);
  const { [list]: known = [] } = permissionsIn(file);
  if (!known.includes(text)) changeSetting(file, ["permissions", list], [...known, text]);
}

function permissionsIn(file: string): PermissionEntries {
  const { settings, faults } = readOneSetting(file, "permissions");
  if (faults[0]) throw new SettingsError(faults[0]);
  return settings.permissions ?? {};
}

/** Returns warnings for the user about settings and rules: faults, and rules that match nothing or too much. */
export function settingNotices({ faults, settings }: Configuration, rules: Rules): readonly string[] {
  return [
    ...faults.map(describeFault),
    ...sharedNames(rules.allow, settings),
    ...absentNames(rules),
    ...hookNotices(settings.hooks),
    ...wideRuleNotices(allowRules(rules.allow)),
  ];
}
