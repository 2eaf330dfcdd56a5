import type { Json } from "@banyan/core";
import type { HookEvent } from "./entries.ts";
import type { HookEnd } from "./run-hook.ts";

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
const TELLING: ReadonlySet<HookEvent> = new Set(["SessionStart", "UserPromptSubmit"]);

/**
 * Reads what a hook said by the rules of Claude Code and codex: exit code 2 denies, with standard error as the reason; 0 is
 * fine, and JSON on standard output may say more; any other code is a failure that stops nothing.
 */
export function saidBy(event: HookEvent, end: HookEnd): HookSaid {
  if ("problem" in end) return { problem: end.problem };
  const { code, stdout, stderr } = end;
  if (code === 2) return { decision: "deny", reason: stderr.trim() || "a hook does not allow it, and did not say why" };
  if (code !== 0) return { problem: `failed with exit code ${code}: ${stderr.trim().split("\n")[0] ?? ""}` };
  const text = stdout.trim();
  if (text === "") return {};
  if (!text.startsWith("{")) return TELLING.has(event) ? { context: text } : {};
  try {
    return readJson(JSON.parse(text) as Record<string, unknown>);
  } catch (error) {
    return { problem: `answered what is no JSON: ${error instanceof Error ? error.message : error}` };
  }
}

function readJson(said: Record<string, unknown>): HookSaid {
  const specific = recordOf(said.hookSpecificOutput);
  const request = recordOf(specific.decision);
  const stops = said.continue === false;
  const asked = stops ? "deny" : (specific.permissionDecision ?? request.behavior ?? said.decision);
  const decision = DECISIONS[String(asked)];
  if (asked !== undefined && decision === undefined)
    return { problem: `answered with the decision ${JSON.stringify(asked)}, which is none` };
  const reason =
    (stops ? textOf(said.stopReason) : undefined) ??
    textOf(specific.permissionDecisionReason) ??
    textOf(request.message) ??
    textOf(said.reason);
  return {
    decision,
    reason: decision === "deny" ? (reason ?? "a hook does not allow it, and did not say why") : reason,
    input: (specific.updatedInput ?? request.updatedInput) as Json | undefined,
    context: textOf(specific.additionalContext) ?? textOf(said.additionalContext),
  };
}

/** The words for a decision, of today and of before. */
const DECISIONS: Readonly<Record<string, HookSaid["decision"]>> = {
  allow: "allow",
  approve: "allow",
  ask: "ask",
  deny: "deny",
  block: "deny",
};

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}
