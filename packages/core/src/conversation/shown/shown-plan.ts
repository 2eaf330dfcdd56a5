import type { Message, PlanStep } from "../message.ts";
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
    ...{ mark: MARKS[status], text: visibleLine(title), status },
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
