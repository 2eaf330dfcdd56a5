import type { Json } from "@banyan/core";
import type { HookEvent } from "./hook-event.ts";
import { failureOf, type HookEnd } from "./run-hook.ts";

/** What a hook wants. */
export interface HookSaid {
  /** Whether something may happen; `deny` says why not. */
  readonly decision?: "allow" | "ask" | "deny" | undefined;
  readonly reason?: string | undefined;
  /** Arguments in the place of those of the call. */
  readonly input?: Json | undefined;
  /** Told to the model. */
  readonly context?: string | undefined;
  /** What is wrong with it, in a sentence without a subject. */
  readonly problem?: string | undefined;
}

/** Points at which plain text on standard output is told to the model. */
const TELLING: ReadonlySet<HookEvent> = new Set(["SessionStart", "UserPromptSubmit", "PreCompact"]);

/** Points at which a decision that cannot be understood denies: at the others a no would do something, as sending an agent on. */
const DENYING: ReadonlySet<HookEvent> = new Set(["PreToolUse", "PermissionRequest", "UserPromptSubmit", "PreCompact"]);

/** Points at which exit code 2 means no. At the others nothing can be stopped, so that a hook with this code has failed. */
const STOPPING: ReadonlySet<HookEvent> = new Set([...DENYING, "PostToolUse", "Stop"]);

/**
 * Reads what a hook said by the rules of Claude Code and codex: exit code 2 denies, with standard error as the reason; 0 is
 * fine, and JSON on standard output may say more; any other code is a failure that stops nothing. A decision in a place or a
 * form that is not understood is taken for a no (S34): whoever wrote the hook meant to decide.
 */
export function saidBy(event: HookEvent, end: HookEnd, command: string): HookSaid {
  if ("problem" in end) return { problem: end.problem };
  const { code, stdout, stderr } = end;
  if (code === 2 && STOPPING.has(event))
    return { decision: "deny", reason: stderr.trim() || "a hook blocked it and gave no reason" };
  const text = stdout.trim();
  if (code !== 0) {
    const problem = failureOf(command, end);
    return DECIDING.test(text) ? notUnderstood(event, problem) : { problem };
  }
  if (text === "") return {};
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch (error) {
    const problem = `answered with invalid JSON: ${error instanceof Error ? error.message : error}`;
    if (DECIDING.test(text)) return notUnderstood(event, problem);
    if (text.startsWith("{")) return { problem };
    return TELLING.has(event) ? { context: text } : {};
  }
  const misplaced = misplacedIn(answer, event);
  if (misplaced !== undefined) return notUnderstood(event, misplaced);
  if (isRecord(answer)) return readJson(answer, event);
  return TELLING.has(event) ? { context: text } : {};
}

/** A text that holds a decision, whatever else it is. */
const DECIDING = /"(?:permissionDecision|decision|behavior)"\s*:|"continue"\s*:\s*"?false/;

function notUnderstood(event: HookEvent, problem: string): HookSaid {
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
      return `answered with the decision ${JSON.stringify(value)} at ${path}, which is none`;
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

function readJson(said: Record<string, unknown>, event: HookEvent): HookSaid {
  const specific = recordOf(said.hookSpecificOutput);
  const request = recordOf(specific.decision);
  const stops = said.continue === false;
  // The turn is about to stop as the hook wants it, and a denial would send the agent on.
  if (stops && event === "Stop") return {};
  const asked = [stops ? "deny" : undefined, specific.permissionDecision, request.behavior, said.decision];
  const decisions = asked.map((one) => DECISIONS.get(one));
  // The most careful counts where an answer holds several.
  const decision = (["deny", "ask", "allow"] as const).find((one) => decisions.includes(one));
  const reason =
    (stops ? textOf(said.stopReason) : undefined) ??
    textOf(specific.permissionDecisionReason) ??
    textOf(request.message) ??
    textOf(said.reason);
  return {
    decision,
    reason: decision === "deny" ? (reason ?? "a hook blocked it and gave no reason") : reason,
    input: (specific.updatedInput ?? request.updatedInput) as Json | undefined,
    context: textOf(specific.additionalContext) ?? textOf(said.additionalContext),
  };
}

/** The words for a decision, of today and of before. */
const DECISIONS: ReadonlyMap<unknown, HookSaid["decision"]> = new Map([
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

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}
