import { createHash } from "node:crypto";
import { type ConversationState, textOf } from "@banyan/core";
import { Document, isCollection, parse } from "yaml";
import { z } from "zod";
import type { CheckResult, EvaluationCost } from "../checks/case-check.ts";

/** The result of a finished attempt, as stored in the conversation. See {@link tallyOf}. */
export interface AttemptResult {
  readonly passed: boolean;
  readonly checks: readonly CheckResult[];
  /** Denied calls with the reason. Absent if there are none. */
  readonly denied?: readonly string[];
  /** Duration in seconds, without the checks. */
  readonly seconds: number;
  readonly steps: number;
  /** Tokens and cost of the turns and their sub-agents. */
  readonly spent: EvaluationCost;
  readonly judging: EvaluationCost;
  /** The working folder of the attempt. */
  readonly directory: string;
}

const count = z.int().min(0);
const usage = z.object({ input: count, cached: count, cacheWrite: count, output: count, reasoning: count });
const spending = z
  .object({ usage, cost: z.number().min(0).nullable() })
  .transform(({ usage, cost }) => ({ usage, cost: cost ?? undefined }));
const result = z.object({
  result: z.enum(["passed", "failed"]),
  checks: z.array(
    z.object({
      holds: z.boolean(),
      what: z.string(),
      why: z.string().optional(),
      holdsUntouched: z.literal(true).optional(),
      restored: z.array(z.string()).optional(),
      changed: z.array(z.string()).optional(),
    }),
  ),
  denied: z.array(z.string()).optional(),
  seconds: z.number().min(0),
  steps: count,
  spent: spending,
  judging: spending,
  directory: z.string(),
});

const OPENING = "The evaluation's result of this attempt:\n\n```yaml\n";
const CLOSING = "```";

/** Returns the message with an attempt's result, for users, models and `resultIn`. */
export function attemptResultText({ passed, spent, judging, ...rest }: AttemptResult): string {
  const money = ({ usage, cost }: EvaluationCost) => ({ usage, cost: cost ?? null });
  const all = { result: passed ? "passed" : "failed", ...rest, spent: money(spent), judging: money(judging) };
  const document = new Document(all);
  for (const name of ["spent", "judging"]) {
    const node = document.get(name);
    if (isCollection(node)) node.flow = true;
  }
  return `${OPENING}${document.toString({ lineWidth: 0 })}${CLOSING}`;
}

/** Parses the result message with this id; undefined if there is none. */
export function resultIn({ messages }: ConversationState, id: string): AttemptResult | undefined {
  const message = messages.get(id);
  const text = message ? textOf(message) : "";
  if (!text.startsWith(OPENING) || !text.endsWith(CLOSING)) return undefined;
  try {
    const found = result.safeParse(parse(text.slice(OPENING.length, -CLOSING.length)));
    if (!found.success) return undefined;
    const { result: how, ...rest } = found.data;
    // Absent fields must not have the value `undefined`.
    return { passed: how === "passed", ...rest } as AttemptResult;
  } catch {
    // Another author wrote this message.
    return undefined;
  }
}

/** The ids of an attempt's messages. They are hashes of everything that decides the attempt. */
export interface AttemptIds {
  /** The first message of the attempt. */
  readonly root: string;
  readonly result: string;
  /** The question to the judge of a check. */
  judge(check: number): string;
}

/**
 * Returns the ids of one try of an attempt. After an interruption, the next try is a new branch with the next number.
 */
export function attemptIds(key: string, tries: number): AttemptIds {
  const root = `attempt-${key}-${tries}`;
  return { root, result: `${root}-result`, judge: (check) => `${root}-judge-${check}` };
}

/** Returns a short hash of a JSON value. Equal values give equal keys. */
export function shortKey(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 20);
}

/**
 * The status of an attempt. `passed`: all checks hold. `failed`: a check does not hold. `error`: there was nothing to
 * check. `open`: not finished. The next evaluation repeats `error` and `open`. See {@link tallyOf}.
 */
export type AttemptStatus = "passed" | "failed" | "error" | "open";

/** One attempt at a case in a column. See {@link reasonsOf}. */
export interface Attempt {
  readonly case: string;
  readonly column: string;
  /** From 1. */
  readonly repetition: number;
  readonly status: AttemptStatus;
  /** The first message of the attempt's branch. */
  readonly message?: string;
  /** The result. Present if the attempt `passed` or `failed`. */
  readonly result?: AttemptResult;
  /** The reason why there is no result. */
  readonly error?: string;
  /** True if the result is from an earlier evaluation. */
  readonly isKept: boolean;
}

/** The result of an evaluation. See {@link evaluationNotes}. */
export interface Evaluation {
  readonly name: string;
  readonly conversation: string;
  readonly cases: readonly string[];
  readonly columns: readonly string[];
  readonly repetitions: number;
  /** The attempts, case by case, each in the order of the columns. */
  readonly attempts: readonly Attempt[];
  readonly spent: {
    /** Tokens and cost of the attempts that have a result. */
    readonly attempts: EvaluationCost;
    /** Tokens and cost of the judges of these attempts. */
    readonly judging: EvaluationCost;
    /** The cost of attempts that failed or were interrupted, and of attempts that a user continued. */
    readonly beside: EvaluationCost;
    readonly all: EvaluationCost;
  };
  /** The reason why the evaluation did not finish. */
  readonly stopped?: { readonly reason: "limit" | "interrupted"; readonly why: string };
}
