import { hookNotices } from "../hooks/entries.ts";
import { hookEvents } from "../hooks/hook-event.ts";
import { readMatcher } from "../hooks/matcher.ts";
import { exampleCall } from "../permissions/example-call.ts";
import { sharedNames } from "../permissions/named-tool.ts";
import { absentNames, allowRules, checkedRule, rulesFrom } from "../permissions/rule.ts";
import { wideRuleNotices } from "../permissions/shell/wide-rule.ts";
import { absentInLists } from "../permissions/tool-list.ts";
import { isAbsentTool } from "../permissions/tool-names.ts";
import { agentsOf, type Settings } from "./schema.ts";

/** The settings that name tools. */
export type ProvenSettings = Pick<Settings, "permissions" | "hooks" | "mcpServers" | "agents">;

/** A rule or matcher of the settings, with an example that shows that it can match. */
export interface ProvenRule {
  /** Such as `permissions.deny`. */
  readonly key: string;
  readonly text: string;
  /** A call that matches, or the name of a tool that matches. Undefined if nothing was found. */
  readonly example: string | undefined;
}

/** Returns an example for each rule and matcher, and a sentence for each rule on a tool that Banyan lacks. */
export function provenRules(
  { permissions = {}, hooks = {}, mcpServers, agents }: ProvenSettings,
  workspace: string,
): { readonly proven: readonly ProvenRule[]; readonly notices: readonly string[] } {
  const ofRules = (["deny", "ask", "allow"] as const).flatMap((list) =>
    (permissions[list] ?? []).flatMap((text): ProvenRule[] => {
      const rule = checkedRule(text, list);
      if (isAbsentTool(rule.tool)) return [];
      return [{ key: `permissions.${list}`, text, example: exampleCall(rule, list, workspace) }];
    }),
  );
  const ofHooks = hookEvents.flatMap((event) =>
    (hooks[event] ?? []).flatMap(({ matcher = "*" }): ProvenRule[] => {
      const read = readMatcher(event, matcher);
      if (typeof read === "string" || read.example === undefined) return [];
      return [{ key: `hooks.${event}`, text: matcher === "" ? "*" : matcher, example: read.example }];
    }),
  );
  const rules = rulesFrom(permissions);
  const notices = [
    ...sharedNames(rules.allow, { mcpServers }),
    ...absentNames(rules),
    ...hookNotices(hooks),
    ...wideRuleNotices(allowRules(rules.allow)),
    ...absentInLists(agentsOf({ agents })),
  ];
  return { proven: [...ofRules, ...ofHooks], notices };
}
