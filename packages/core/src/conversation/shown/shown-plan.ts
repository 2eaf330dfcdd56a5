import type { Message, PlanStep } from "../message.ts";
import type { Json } from "../part.ts";
import { inEnglish, type Say } from "./say.ts";
import { visibleLine } from "./visible-text.ts";

/** One line of a plan. See {@link shownPlan}. */
export interface ShownStep {
  /** The mark: `[x]` done, `[~]` in progress, `[ ]` pending. Empty for a line that counts several steps. */
  readonly mark: string;
  readonly text: string;
  /** The status. Absent for a line that counts several steps. */
  readonly status?: PlanStep["status"];
}

const MARKS: Readonly<Record<PlanStep["status"], string>> = {
  completed: "[x]",
  in_progress: "[~]",
  pending: "[ ]",
};

/**
 * Returns the newest plan on a branch. Nothing if no completed call has a plan.
 * @example const plan = planOnPath(pathTo(session.state, session.state.leaf));
 */
export function planOnPath(path: readonly Message[]): readonly PlanStep[] | undefined {
  for (let index = path.length - 1; index >= 0; index--) {
    const message = path[index];
    const calls = message?.role === "assistant" ? message.calls : [];
    const last = calls.findLast(({ about, status }) => about?.plan !== undefined && status === "completed");
    if (last) return last.about?.plan;
  }
  return undefined;
}

/**
 * Returns a plan as lines, the same in every client. If there are more than `most` steps, two lines with numbers stand
 * for the first done steps and for the last steps.
 * @example for (const { mark, text } of shownPlan(planIn("[x] Dig\n[ ] Plant"))) console.log(mark, text);
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

/**
 * Returns the progress of a plan and its current step, such as `2 of 5 done: mend the parser`.
 * @example
 * console.log(planHeadline([{ title: "Dig", status: "completed" }, { title: "Plant", status: "in_progress" }]));
 */
export function planHeadline(plan: readonly PlanStep[], say: Say = inEnglish): string {
  const done = plan.filter(({ status }) => status === "completed").length;
  const now = plan.find(({ status }) => status === "in_progress");
  const amounts = { done: String(done), all: String(plan.length) };
  return now
    ? say("{done} of {all} done: {now}", { ...amounts, now: visibleLine(now.title) })
    : say("{done} of {all} done", amounts);
}

/**
 * Returns a plan as a text that a user can edit. Each step is one line, which begins with the step's mark.
 * @example editablePlan([{ title: "Dig", status: "completed" }]) // "[x] Dig"
 */
export function editablePlan(plan: readonly PlanStep[]): string {
  return shownPlan(plan)
    .map(({ mark, text }) => `${mark} ${text}`)
    .join("\n");
}

/**
 * Reads a plan from a user's text, one step per line without empty lines. A step without a mark is pending; list marks
 * (`-`, `*`, numbers) are ignored. Throws `SyntaxError` if no step is left.
 * @example planIn("[x] Dig\nPlant") // "Dig" is completed, and "Plant" is pending
 */
export function planIn(written: string, say: Say = inEnglish): PlanStep[] {
  const steps = written.split("\n").flatMap((line): PlanStep[] => {
    const [, mark = " ", title = ""] = /^\s*(?:[-*]\s+|\d+[.)]\s+)?(?:\[([ x~])\]\s*)?(.*?)\s*$/i.exec(line) ?? [];
    if (title === "") return [];
    return [{ title, status: mark === " " ? "pending" : mark === "~" ? "in_progress" : "completed" }];
  });
  if (steps.length === 0) throw new SyntaxError(say("A plan needs at least one step. Write one step per line."));
  return steps;
}

/**
 * True if a value is a list of plan steps that have no unknown fields.
 * @example isPlanSteps([{ title: "Dig", status: "pending" }]) // true
 */
export function isPlanSteps(value: Json): value is Json & readonly PlanStep[] {
  const isStep = (step: Json) => {
    if (typeof step !== "object" || step === null || !("title" in step) || !("status" in step)) return false;
    const { title, status, ...others } = step;
    return typeof title === "string" && Object.hasOwn(MARKS, String(status)) && Object.keys(others).length === 0;
  };
  return Array.isArray(value) && value.length > 0 && value.every(isStep);
}
