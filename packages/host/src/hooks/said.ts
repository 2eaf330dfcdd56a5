import type { Json } from "@banyan/core";
import { cutTo } from "@banyan/core/shown";
import type { Redact } from "../redaction/redactor.ts";
import type { HookEvent } from "./hook-event.ts";
import { type HookEnd, hookFailure } from "./run-hook.ts";

/** The result of a hook. */
export interface HookReply {
  /** `deny` stops the call or message, and `reason` gives the cause. */
  readonly decision?: "allow" | "ask" | "deny" | undefined;
  readonly reason?: string | undefined;
  /** Replaces the arguments of the call. */
  readonly input?: Json | undefined;
  /** Additional text for the model. */
  readonly context?: string | undefined;
  /** A problem of the hook, as a sentence without subject. */
  readonly problem?: string | undefined;
}

/** Events whose plain text on standard output goes to the model. */
const TELLING: ReadonlySet<HookEvent> = new Set(["SessionStart", "UserPromptSubmit", "PreCompact"]);

/** Events for which an unreadable decision denies. For other events, a denial would cause an action, such as continuing the agent. */
const DENYING: ReadonlySet<HookEvent> = new Set(["PreToolUse", "PermissionRequest", "UserPromptSubmit", "PreCompact"]);

/** Events for which exit code 2 denies. Other events cannot be stopped, so there the hook counts as failed. */
const STOPPING: ReadonlySet<HookEvent> = new Set([...DENYING, "PostToolUse", "Stop"]);

/**
 * Reads a hook's result by the rules of Claude Code and codex. Exit code 2 denies, with standard error as the reason. Exit code 0
 * succeeds, and JSON on standard output may add more. Any other code is a failure that stops nothing. A decision in an unknown
 * place or form counts as a denial (S34), since the hook's author meant to decide.
 */
export function readHookReply(event: HookEvent, end: HookEnd, command: string): HookReply {
  if ("problem" in end) return { problem: end.problem };
  const { code, stdout, stderr } = end;
  if (code === 2 && STOPPING.has(event))
    return { decision: "deny", reason: stderr.trim() || "a hook blocked it and gave no reason" };
  const text = stdout.trim();
  if (code !== 0) {
    const problem = hookFailure(command, end);
    return DECIDING.test(text) ? unreadableReply(event, problem) : { problem };
  }
  if (text === "") return {};
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch (error) {
    const problem = `answered with invalid JSON: ${error instanceof Error ? error.message : error}`;
    if (DECIDING.test(text)) return unreadableReply(event, problem);
    if (text.startsWith("{")) return { problem };
    return TELLING.has(event) ? { context: text } : {};
  }
  const misplaced = misplacedIn(answer, event);
  if (misplaced !== undefined) return unreadableReply(event, misplaced);
  if (isRecord(answer)) return readJson(answer, event);
  return TELLING.has(event) ? { context: text } : {};
}

/** Matches a decision anywhere in a text. */
const DECIDING = /"(?:permissionDecision|decision|behavior)"\s*:|"continue"\s*:\s*"?false/;

function unreadableReply(event: HookEvent, problem: string): HookReply {
  if (!DENYING.has(event)) return { problem };
  return { decision: "deny", reason: `a hook decided in a form that is not understood: it ${problem}`, problem };
}

/** Returns the place of a decision that is not read, or is not a decision, as the end of a sentence about the hook. */
function misplacedIn(answer: unknown, event: HookEvent): string | undefined {
  const read: Readonly<Record<string, (value: unknown) => boolean>> = {
    decision: isDecision,
    continue: (value) => typeof value === "boolean",
    "hookSpecificOutput.permissionDecision": isDecision,
    "hookSpecificOutput.decision": isRecord,
    "hookSpecificOutput.decision.behavior": isDecision,
  };
  for (const [path, value] of decisionsIn(answer)) {
    const isThere = Object.hasOwn(read, path) && isRecord(answer);
    if (isThere && !read[path]?.(value))
      return `answered with the decision ${JSON.stringify(value)} at ${path}, which hooks cannot make`;
    if (!isThere) return `answered with a decision at ${path || "no name"}, where none is read; ${PLACES}`;
    const { hookEventName = event } = recordOf(recordOf(answer).hookSpecificOutput);
    if (path.startsWith("hookSpecificOutput") && hookEventName !== event)
      return `answered for ${JSON.stringify(hookEventName)}, and the point is ${event}`;
  }
  return undefined;
}

const PLACES = 'write {"hookSpecificOutput":{"permissionDecision":"deny"}} or {"decision":"block"}';

/** Each decision in an answer, with its path. Changed arguments and texts of a hook decide nothing. */
function decisionsIn(value: unknown, path: readonly string[] = []): (readonly [path: string, value: unknown])[] {
  if (typeof value !== "object" || value === null || path.length > 8) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const at = [...path, name];
    const isOne =
      ["permissionDecision", "decision", "behavior"].includes(name) || (name === "continue" && inner !== true);
    const own = isOne ? [[at.join("."), inner] as const] : [];
    return /^updated/.test(name) ? [] : [...own, ...decisionsIn(inner, at)];
  });
}

function readJson(said: Record<string, unknown>, event: HookEvent): HookReply {
  const specific = recordOf(said.hookSpecificOutput);
  const request = recordOf(specific.decision);
  const stops = said.continue === false;
  // Stopping the turn is what the hook wants here; a denial would continue the agent.
  if (stops && event === "Stop") return {};
  const asked = [stops ? "deny" : undefined, specific.permissionDecision, request.behavior, said.decision];
  const decisions = asked.map((one) => DECISIONS.get(one));
  // If an answer has several decisions, the strictest counts.
  const decision = (["deny", "ask", "allow"] as const).find((one) => decisions.includes(one));
  const reason =
    (stops ? nonEmptyText(said.stopReason) : undefined) ??
    nonEmptyText(specific.permissionDecisionReason) ??
    nonEmptyText(request.message) ??
    nonEmptyText(said.reason);
  return {
    decision,
    reason: decision === "deny" ? (reason ?? "a hook blocked it and gave no reason") : reason,
    input: (specific.updatedInput ?? request.updatedInput) as Json | undefined,
    context: nonEmptyText(specific.additionalContext) ?? nonEmptyText(said.additionalContext),
  };
}

/** Current and former names of decisions. */
const DECISIONS: ReadonlyMap<unknown, HookReply["decision"]> = new Map([
  ["allow", "allow"],
  ["approve", "allow"],
  ["ask", "ask"],
  ["deny", "deny"],
  ["block", "deny"],
]);

function isDecision(value: unknown): boolean {
  return DECISIONS.has(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function recordOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

function nonEmptyText(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

/** Maximum characters that hooks add to what the model sees. */
const MOST_TOLD = 10_000;

/** Combines the results of hooks: the strictest decision counts, and texts are joined. */
export function mergeReplies(all: readonly HookReply[], redact: Redact): HookReply {
  const decision = (["deny", "ask", "allow"] as const).find((one) => all.some((said) => said.decision === one));
  const texts = (name: "reason" | "context", of: readonly HookReply[]) => {
    const text = of.flatMap((said) => said[name] ?? []).join("\n\n");
    return text === "" ? undefined : cutTo(redact(text), MOST_TOLD, "");
  };
  return {
    decision,
    reason: texts(
      "reason",
      all.filter((said) => said.decision === decision),
    ),
    context: texts("context", all),
    input: all.findLast((said) => said.input !== undefined)?.input,
  };
}
