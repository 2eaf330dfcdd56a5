import { homedir } from "node:os";
import type { Permission, Permit, PermitRequest, Tool } from "@banyan/core";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import { canBeLimited, LIMITED } from "./limited-calls.ts";
import { type Rule, type Subject, strongest } from "./match.ts";
import { meansOnly } from "./named-tool.ts";
import { pathScope, type SubjectContext } from "./place.ts";
import {
  type ApprovalMode,
  allowRules,
  COMMAND,
  changesFiles,
  checkedRule,
  formatRule,
  isAbout,
  parseRule,
  type Rules,
  restrainRules,
} from "./rule.ts";
import { hasHarmless } from "./shell/harmless.ts";
import { wideRuleNotices } from "./shell/wide-rule.ts";
import { asReader, describeCallForRules, subjectOf } from "./subject.ts";

/**
 * Options of `permissions`: the rules and surroundings by which calls are judged.
 * @example
 * const permission = permissions({
 *   workspace: "/home/me/project",
 *   mode: "edits",
 *   rules: { ...noRules, deny: [parseRule("shell(git push:*)")] },
 *   tools: () => tools,
 *   servers: ["github"],
 *   canAsk: true,
 *   home: "/home/me",
 *   copy: "/home/me/worktrees/attempt-1",
 * });
 * new Agent({ model, tools, permission });
 */
export interface PermissionOptions {
  /** The base of relative paths. Only paths in this folder count as inside the workspace. */
  readonly workspace: string;
  readonly mode: ApprovalMode;
  readonly rules: Rules;
  /** All tools that rules may name. */
  readonly tools: () => readonly Tool[];
  /**
   * The names of all MCP servers in the settings, even of unavailable servers. Default: the servers of `tools`.
   */
  readonly servers?: readonly string[];
  /** True if a user can be asked. If not, calls that need approval are denied. */
  readonly canAsk: boolean;
  /** The folder that `~` means. Default: the user's home. */
  readonly home?: string;
  /**
   * The path of a copy of the workspace, without links. Paths in the copy are judged like the same paths in the
   * workspace.
   */
  readonly copy?: string;
}

const OPTIONS: OptionNames<PermissionOptions> = {
  workspace: "string!",
  mode: "string",
  rules: true,
  tools: true,
  servers: true,
  canAsk: "boolean",
  home: "string",
  copy: true,
};
const RULES: OptionNames<Rules> = { deny: true, ask: true, allow: true };

/**
 * Returns a function that judges calls (B63): first by deny, then ask, then allow rules, then by the mode. Deny and ask
 * rules are checked against every part of a call and every possible value of unknown parts. Allow rules must match the
 * whole call. If a deny rule could match, the call needs approval, or is denied if no user can be asked. The function
 * reads the file system and never throws. Throws a `RuleError` at once for a rule on an unknown tool (S34).
 */
export function permissions(options: PermissionOptions): Permission {
  refuseUnknown("permissions", options, OPTIONS);
  refuseUnknown("permissions", options.rules, RULES, "rules.");
  const surroundings: SubjectContext = {
    scope: pathScope(options.workspace, options.home ?? homedir(), options.copy),
    writes: options.mode === "edits" || options.mode === "sandbox",
    isWriter: (name) =>
      changesFiles(name) || options.tools().some((tool) => tool.name === name && tool.files === "write"),
  };
  checkNames(options.rules, options.tools());
  const rules = {
    deny: restrainRules(options.rules.deny),
    ask: restrainRules(options.rules.ask),
    allow: allowRules(options.rules.allow),
  };
  const servers = () => options.servers ?? options.tools().flatMap(({ offeredBy }) => offeredBy ?? []);
  return (asked) => {
    const request = { ...asked, tool: asReader(asked.tool, asked.input) };
    const { control = false } = request.tool;
    // Only a rule with its name denies a control tool.
    const deny = control ? rules.deny.filter((rule) => rule.tool !== "*") : rules.deny;
    const subject = subjectOf(request.tool, request.input, surroundings);

    const matches = (rule: Rule) => (rule.tool === "*" ? "yes" : subject.matches(rule));
    const denied = deny.map(matches);
    const denying = deny.find((_, index) => denied[index] === "yes");
    if (denying !== undefined)
      return { decision: "deny", reason: `The rule '${formatRule(denying)}' forbids this call.` };
    if (request.done) {
      const asking = options.mode === "all" ? undefined : rules.ask.find((rule) => matches(rule) === "yes");
      if (asking === undefined) return { decision: "allow" };
      return { decision: "deny", reason: `The rule '${formatRule(asking)}' requires approval for this call.` };
    }
    if (control) {
      const handsIn = options.mode === "plan" && describeCallForRules(request.tool, request.input)?.handsIn === true;
      if (handsIn) return handIn(options.canAsk);
      const isAsked = options.mode !== "all" && rules.ask.some((rule) => rule.tool !== "*" && matches(rule) !== "no");
      return isAsked ? askByRule(options.canAsk) : { decision: "allow" };
    }
    if (options.mode === "plan" && request.tool.effects !== "none" && !subject.allowed(LOOKING))
      return { decision: "deny", reason: ONLY_PLANS };

    const doubtful = deny.find((_, index) => denied[index] === "perhaps");
    if (options.mode === "all") {
      if (doubtful === undefined) return { decision: "allow" };
      if (request.tool.offeredBy !== undefined) return doubt(options.canAsk, doubtful);
      return {
        decision: "deny",
        reason: `The rule '${formatRule(doubtful)}' may forbid this call. Write the call plainly, without variables, substitutions or indirection.`,
      };
    }
    const mustAsk = strongest(rules.ask.map(matches)) !== "no";
    // An "always" answer cannot override an ask rule or a possible deny rule, so offer none.
    if (doubtful !== undefined && request.tool.offeredBy !== undefined) return doubt(options.canAsk, doubtful);
    if (mustAsk || doubtful !== undefined) return askByRule(options.canAsk);
    const named = [...rules.allow, ...rulesOfAnswers(request.allowed)];
    const allowing = named.filter((rule) => meansOnly(rule.tool, request.tool, servers()));
    if (allows(allowing, request, subject)) return { decision: "allow" };
    if (options.mode === "sandbox" && canBeLimited(request)) return LIMITED;
    return askPermit(options.canAsk, subject.suggestion(allowing));
  };
}

/** Returns the rule that the answer "always" would add. Undefined if no single safe rule covers the call. */
export function suggestPattern(request: PermitRequest, workspace: string, home = homedir()): string | undefined {
  const surroundings: SubjectContext = { scope: pathScope(workspace, home), writes: false, isWriter: () => false };
  return subjectOf(request.tool, request.input, surroundings).suggestion([]);
}

/** Read-only commands with any harmless option. In plan mode, a user may still be asked about them. */
const LOOKING: readonly Rule[] =
  "cat,cmp,cut,df,diff,du,fd,file,find,git blame,git cat-file,git describe,git diff,git diff-tree,git grep,git log,git ls-files,git ls-tree,git merge-base,git reflog,git remote,git rev-list,git rev-parse,git shortlog,git show,git stash list,git status,grep,head,jq,ls,nl,ps,pwd,rg,sort,stat,tail,tree,uname,uniq,wc,which"
    .split(",")
    .map((command) => parseRule(`${COMMAND}(${command} [harmless])`));

const ONLY_PLANS =
  "Approval mode 'plan' only allows reading, and this call may change something. Explore, then hand in your plan. After the user allows the plan, this call can run.";

/** Only a user approves a plan. */
function handIn(canAsk: boolean): Permit {
  if (canAsk) return { decision: "ask", byRule: true };
  return {
    decision: "deny",
    reason:
      "In approval mode 'plan' a user must allow the plan, and no user can be asked here. Answer with the plan, and end your turn.",
  };
}

/** Throws a `RuleError` for a rule that names none of the tools. */
function checkNames({ deny, ask, allow }: Rules, tools: readonly Tool[]): void {
  if (tools.length === 0) return;
  const names = tools.map(({ name }) => name);
  for (const rule of deny) checkedRule(formatRule(rule), "deny", names);
  for (const rule of ask) checkedRule(formatRule(rule), "ask", names);
  for (const rule of allow) checkedRule(formatRule(rule), "allow", names);
}

function allows(rules: readonly Rule[], request: PermitRequest, subject: Subject): boolean {
  return rules.some((rule) => rule.pattern === undefined && isAbout(rule, request.tool)) || subject.allowed(rules);
}

/** The arguments leave open whether a deny rule matches. */
function doubt(canAsk: boolean, rule: Rule): Permit {
  if (canAsk) return { decision: "ask", byRule: true };
  return {
    decision: "deny",
    reason: `The rule '${formatRule(rule)}' may forbid this call, and no user can be asked here. Name the files or the command in the arguments.`,
  };
}

function askPermit(canAsk: boolean, pattern: string | undefined): Permit {
  if (canAsk) return { decision: "ask", ...(pattern === undefined ? {} : { pattern }) };
  const hint = pattern === undefined ? "" : ` (allow it with --allow '${pattern.replaceAll("'", "'\\''")}')`;
  return { decision: "deny", reason: nobody(hint), unasked: true };
}

/** Hooks cannot replace the user's decision. */
function askByRule(canAsk: boolean): Permit {
  return canAsk ? { decision: "ask", byRule: true } : { decision: "deny", reason: nobody() };
}

function nobody(hint = ""): string {
  return `This call needs a user's approval, and no user can be asked here${hint}.`;
}

function rulesOfAnswers(answers: readonly string[]): readonly Rule[] {
  return answers.flatMap((text) => {
    try {
      return allowRules([ofAnswer(parseRule(text))]);
    } catch {
      // A damaged or newer rule allows nothing: the call needs approval again.
      return [];
    }
  });
}

/** Returns rules from the answer "always" that now allow less than the user approved, each with advice (S33). */
export function narrowedRules(
  answers: readonly string[],
): readonly { readonly rule: string; readonly reason: string }[] {
  return answers.flatMap((rule) => wideRuleNotices(rulesOfAnswers([rule])).map((reason) => ({ rule, reason })));
}

/** Older answers wrote `git log *` for `git log [harmless]`. For others, they now mean the exact command (S24). */
function ofAnswer(rule: Rule): Rule {
  const { tool, pattern } = rule;
  if (tool !== COMMAND || !pattern?.endsWith(" *")) return rule;
  const command = pattern.slice(0, -2);
  return { tool, pattern: hasHarmless(command) ? `${command} [harmless]` : command };
}
