export { Approval, ApprovalError, NEEDS_SANDBOX, type Unasked } from "./approval.ts";
export { type ApprovalMode, type PermissionOptions, permissions, suggestPattern } from "./permissions.ts";
export { pathScope } from "./place.ts";
export { readingRules } from "./reading.ts";
export { formatRule, joinRules, noRules, parseRule, type Rule, RuleError, type Rules } from "./rule.ts";
export { type PermissionEntries, rulesFrom } from "./rule-entries.ts";
