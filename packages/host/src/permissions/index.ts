export { Approval, ApprovalError, NEEDS_SANDBOX, type Unasked } from "./approval.ts";
export { type ApprovalMode, type PermissionOptions, permissions, suggestPattern } from "./permissions.ts";
export { pathScope } from "./place.ts";
export { readingRules } from "./reading.ts";
export {
  formatRule,
  joinRules,
  noRules,
  type PermissionEntries,
  parseRule,
  type Rule,
  RuleError,
  type Rules,
  rulesFrom,
} from "./rule.ts";
