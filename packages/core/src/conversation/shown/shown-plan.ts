import type { Json, Message, PlanStep } from "../message.ts";
import { inEnglish, type Say } from "./say.ts";
import { visibleLine } from "./visible-text.ts";

/** A line of a plan. */
export interface ShownStep {
  /** `[x]` done, `[~]` under way, `[ ]` still to do; nothing in front of a line that stands for several steps. */
  readonly mark: string;
  readonly text: string;
  /** How it stands; nothing for several. */
  readonly status?: PlanStep["status"];
}

const MARKS: Readonly<Record<PlanStep["status"], string>> = {
  completed: "[x]",
  in_progress: "[~]",
  pending: "[ ]",
};

/**
 * The plan on a branch: what the last call on its path that put one down says. A call that failed or was refused puts down
 * none. Nothing where there is none.
 */
export function planOn(path: readonly Message[]): readonly PlanStep[] | undefined {
  for (let index = path.length - 1; index >= 0; index--) {
    const message = path[index];
    const calls = message?.role === "assistant" ? message.calls : [];
    const last = calls.findLast(({ about, status }) => about?.plan !== undefined && status === "completed");
    if (last) return last.about?.plan;
  }
  return undefined;
}

/**
 * A plan as lines, the same in every client. Of more than `most` steps, those that were done first and those that come last
 * are counted.
 */
export function shownPlan(
  plan: readonly PlanStep[],
  most = Number.POSITIVE_INFINITY,
  say: Say = inEnglish,
): ShownStep[] {
  const open = plan.findIndex(({ status }) => status !== "completed");
  const isCut = plan.length > most;
  const first = isCut ? Math.min(open < 0 ? plan.length : open, plan.length - most) : 0;
  const rest = isCut ? plan.length - first - most : 0;
  const steps = plan.slice(first, plan.length - rest).map(({ title, status }) => ({
    mark: MARKS[status],
    text: visibleLine(title),
    status,
  }));
  return [
    ...(first > 0 ? [{ mark: "", text: say.count(first, "… ({count} step done)", "… ({count} steps done)") }] : []),
    ...steps,
    ...(rest > 0 ? [{ mark: "", text: say.count(rest, "… ({count} more step)", "… ({count} more steps)") }] : []),
  ];
}

/** `2 of 5 done: mend the parser`: how far it is, and what is under way. */
export function planHeadline(plan: readonly PlanStep[], say: Say = inEnglish): string {
  const done = plan.filter(({ status }) => status === "completed").length;
  const now = plan.find(({ status }) => status === "in_progress");
  const amounts = { done: String(done), all: String(plan.length) };
  return now
    ? say("{done} of {all} done: {now}", { ...amounts, now: visibleLine(now.title) })
    : say("{done} of {all} done", amounts);
}

/** A plan as a person changes it: a step on each line, behind its mark. */
export function planText(plan: readonly PlanStep[]): string {
  return shownPlan(plan)
    .map(({ mark, text }) => `${mark} ${text}`)
    .join("\n");
}

/**
 * The plan that a person has written: each line is a step, as far as it says something. What has no mark is still to be done;
 * a `-`, `*` or number before it, as in a list, says nothing. Throws `SyntaxError` when no step is left.
 */
export function planIn(written: string, say: Say = inEnglish): PlanStep[] {
  const steps = written.split("\n").flatMap((line): PlanStep[] => {
    const [, mark = " ", title = ""] = /^\s*(?:[-*]\s+|\d+[.)]\s+)?(?:\[([ x~])\]\s*)?(.*?)\s*$/i.exec(line) ?? [];
    if (title === "") return [];
    return [{ title, status: mark === " " ? "pending" : mark === "~" ? "in_progress" : "completed" }];
  });
  if (steps.length === 0) throw new SyntaxError(say("A plan needs a step at least: one on each line."));
  return steps;
}

/** Whether a value is the steps of a plan, with nothing in it that a plan does not show. */
export function isSteps(value: Json): value is Json & readonly PlanStep[] {
  const isStep = (step: Json) => {
    if (typeof step !== "object" || step === null || !("title" in step) || !("status" in step)) return false;
    const { title, status, ...others } = step;
    return typeof title === "string" && Object.hasOwn(MARKS, String(status)) && Object.keys(others).length === 0;
  };
  return Array.isArray(value) && value.length > 0 && value.every(isStep);
}
