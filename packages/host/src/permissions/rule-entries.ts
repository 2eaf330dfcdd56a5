import { z } from "zod";
import { parseRule, RuleError, type Rules } from "./rule.ts";

const rule = z.string('a rule, as in "shell(npm test*)"').superRefine((text, context) => {
  try {
    parseRule(text);
  } catch (error) {
    if (!(error instanceof RuleError)) throw error;
    const message = `a rule: TOOL, TOOL(PATTERN) or *. The rule '${text}' ${error.problem}`;
    context.addIssue({ code: "custom", message });
  }
});
const list = z.array(rule, "a list of rules");

/** The form of rules in files: lists of rules as text. */
export const permissionEntries = z.strictObject(
  {
    deny: list.describe("What is never run. Counts before the other two.").optional(),
    ask: list.describe("What is asked about, whatever `allow` says.").optional(),
    allow: list.describe("What runs without asking.").optional(),
  },
  "an object with the lists deny, ask and allow",
);

/** Permission rules as a settings file holds them: texts that `parseRule` reads. */
export type PermissionEntries = Readonly<z.infer<typeof permissionEntries>>;

/** Rules as text, read. Throws a `RuleError` for one that is malformed. */
export function rulesFrom(entries: PermissionEntries = {}): Rules {
  return {
    deny: (entries.deny ?? []).map(parseRule),
    ask: (entries.ask ?? []).map(parseRule),
    allow: (entries.allow ?? []).map(parseRule),
  };
}
