import { z } from "zod";
import { describeFault, type FileFault, faultIn, readJsonFile, replaceJsonFile } from "../settings/json-file.ts";
import { formatRule, parseRule, type Rule, type Rules } from "./rule.ts";

const rule = z.string('a rule, as in "shell(npm test*)"').superRefine((text, context) => {
  try {
    parseRule(text);
  } catch (error) {
    context.addIssue({
      code: "custom",
      message: `a rule: TOOL, TOOL(PATTERN) or *. ${error instanceof Error ? error.message : ""}`.replace(/\.$/, ""),
    });
  }
});
const list = z.array(rule, "a list of rules").optional();

/** The form of rules in files: lists of rules as text. */
export const permissionEntries = z.strictObject(
  { deny: list, ask: list, allow: list },
  "an object with the lists deny, ask and allow",
);
/** Permission rules as a settings file holds them: texts that `parseRule` reads. */
export type PermissionEntries = Readonly<z.infer<typeof permissionEntries>>;

/** A rule file is a settings file of which only the permissions count. */
const ruleFile = z.looseObject(
  { permissions: permissionEntries.optional() },
  'an object, as in {"permissions":{"allow":["shell(npm test*)"]}}',
);

/** A rule file that cannot be used. The message names the file, the place and what is expected there. */
export class RuleFileError extends Error {
  override readonly name = "RuleFileError";
  readonly fault: FileFault;

  constructor(fault: FileFault) {
    super(describeFault(fault));
    this.fault = fault;
  }
}

/** The rules of a file `{"permissions": {"deny": [], "ask": [], "allow": []}}`. Throws a `RuleFileError`, also when there is no file. */
export function readRuleFile(file: string): Rules {
  const content = readObject(file);
  if (content === undefined) {
    throw new RuleFileError({ file, where: undefined, problem: "there is no such file", expected: "a rule file" });
  }
  return rulesFrom(content.permissions);
}

/** Rules as text, read. Throws a `RuleError` for one that is malformed. */
export function rulesFrom(entries: PermissionEntries = {}): Rules {
  return {
    deny: (entries.deny ?? []).map(parseRule),
    ask: (entries.ask ?? []).map(parseRule),
    allow: (entries.allow ?? []).map(parseRule),
  };
}

/**
 * Adds a rule to those that a file allows, as the answer "always" does. All else in the file is kept, and a file is
 * made where there is none. Throws a `RuleError` for a malformed rule and a `RuleFileError` for a file that is broken,
 * which is then left as it is.
 */
export function rememberRule(file: string, rule: string | Rule): void {
  const text = formatRule(typeof rule === "string" ? parseRule(rule) : rule);
  const content = readObject(file) ?? {};
  const { permissions = {} } = content;
  if (permissions.allow?.includes(text)) return;
  replaceJsonFile(file, { ...content, permissions: { ...permissions, allow: [...(permissions.allow ?? []), text] } });
}

function readObject(file: string): z.infer<typeof ruleFile> | undefined {
  const json = readJsonFile(file);
  if (json.state === "absent") return undefined;
  if (json.state === "faulty") throw new RuleFileError(json.fault);
  const fault = faultIn(file, json.value, ruleFile, () => Object.keys(permissionEntries.shape));
  if (fault !== undefined) throw new RuleFileError(fault);
  return ruleFile.parse(json.value);
}
