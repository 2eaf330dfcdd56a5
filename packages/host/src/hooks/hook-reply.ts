import type { Json } from "@banyan/core";
import { cutTo, isJsonRecord, type JsonRecord } from "@banyan/core/shown";
import type { Redact } from "../redaction/redactor.ts";
import type { HookEvent } from "./hook-event.ts";
import { type HookEnd, hookFailure } from "./run-hook.ts";

/** The answer of a hook: its decision, reason and texts. */
export interface HookReply {
  /** The decision. `deny` stops the call or message, with `reason`. */
  readonly decision?: "allow" | "ask" | "deny" | undefined;
  readonly reason?: string | undefined;
  /** New arguments, which replace those of the call. */
  readonly input?: Json | undefined;
  /** Additional text for the model. */
  readonly context?: string | undefined;
  /** A problem of the hook, as a sentence without subject. */
  readonly problem?: string | undefined;
}

/** Events whose plain text on standard output goes to the model. */
const TELLING: ReadonlySet<HookEvent> = new Set(["SessionStart", "UserPromptSubmit", "PreCompact"]);

/** Events for which an unreadable decision denies. For others, a denial would cause an action. */
const DENYING: ReadonlySet<HookEvent> = new Set(["PreToolUse", "PermissionRequest", "UserPromptSubmit", "PreCompact"]);

/** Events for which exit code 2 denies. For others, the hook counts as failed. */
const STOPPING: ReadonlySet<HookEvent> = new Set([...DENYING, "PostToolUse", "Stop"]);

/**
 * Reads a hook's answer as Claude Code and codex do. Exit code 2 denies, and standard error is the reason. Exit code 0
 * succeeds, with optional JSON on standard output. Other codes are failures. A decision in an unknown place or form
 * denies (S34), because the hook's author wanted to decide.
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
  if (isJsonRecord(answer)) return readJson(answer, event);
  return TELLING.has(event) ? { context: text } : {};
}

/** Matches a decision anywhere in a text. */
const DECIDING = /"(?:permissionDecision|decision|behavior)"\s*:|"continue"\s*:\s*"?false/;

function unreadableReply(event: HookEvent, problem: string): HookReply {
  if (!DENYING.has(event)) return { problem };
  return { decision: "deny", reason: `a hook decided in a form that is not understood: it ${problem}`, problem };
}

/** The place of a decision that is not read or not valid, as the end of a sentence about the hook. */
function misplacedIn(answer: unknown, event: HookEvent): string | undefined {
  const read: Readonly<Record<string, (value: unknown) => boolean>> = {
    decision: isDecision,
    continue: (value) => typeof value === "boolean",
    "hookSpecificOutput.permissionDecision": isDecision,
    "hookSpecificOutput.decision": isJsonRecord,
    "hookSpecificOutput.decision.behavior": isDecision,
  };
  for (const [path, value] of decisionsIn(answer)) {
    const isThere = Object.hasOwn(read, path) && isJsonRecord(answer);
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

/** Changed arguments and texts decide nothing. */
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
  // The hook wants the turn to stop; a denial would continue the agent.
  if (stops && event === "Stop") return {};
  const verdicts = [stops ? "deny" : undefined, specific.permissionDecision, request.behavior, said.decision];
  const decisions = verdicts.map((one) => DECISIONS.get(one));
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

function recordOf(value: unknown): JsonRecord {
  return isJsonRecord(value) ? value : {};
}

function nonEmptyText(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

/** Maximum characters that hooks add for the model. */
const MOST_TOLD = 10_000;

/** Combines the answers of several hooks. The strictest decision has effect, and texts are joined. */
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
