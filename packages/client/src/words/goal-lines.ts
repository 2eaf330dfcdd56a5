import { type ConversationState, failedCheckText, type LiveGoal, pathTo } from "@banyan/core/conversation";
import { inEnglish, type Say, visibleLine } from "@banyan/core/shown";

/**
 * Returns the goals of the turns that work on a branch, and the goal that the branch's last turn did not reach.
 * @example for (const line of goalLines(openGoals(session.state, session.state.leaf))) console.log(line);
 */
export function openGoals(state: ConversationState, leaf: string | null): LiveGoal[] {
  const path = new Set<string | null>(pathTo(state, leaf).map(({ id }) => id));
  const runs = [...state.runs.values(), ...state.waiting.values()];
  const ofBranch = runs.filter((run) => run.call === undefined && path.has(run.leaf));
  return [...ofBranch, state.broken.get(leaf ?? "")].flatMap((turn) => turn?.goal ?? []);
}

/**
 * Returns a line for each check of goals, with the last result of the check.
 * @example goalLines([{ id: "1", checks: ["`npm test` exits with 0"] }]) // ["not checked yet: `npm test` exits with 0"]
 */
export function goalLines(goals: readonly LiveGoal[], say: Say = inEnglish): string[] {
  return goals.flatMap(({ checks, results = [], times = 0 }) => {
    const lines = checks.map((check) => {
      const result = results.find(({ what }) => what === check);
      if (!result) return say("not checked yet: {check}", { check: visibleLine(check) });
      return result.passed
        ? say("passed: {check}", { check: visibleLine(check) })
        : say("failed: {check}", { check: failedCheckText(result) });
    });
    return times > 1 ? [...lines, say("The checks failed {count} times in the same way.", { count: times })] : lines;
  });
}
