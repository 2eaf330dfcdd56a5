import { failedCheckText } from "../conversation/broken-turn.ts";
import { errorMessage } from "../conversation/error-message.ts";
import type { EventBody, GoalResult, LiveGoal } from "../conversation/event.ts";
import { type Message, textOf } from "../conversation/message.ts";
import { lastAssistantMessage } from "../conversation/tree/path.ts";
import { orAborted } from "../model/alarm.ts";
import type { Goal, GoalCheck, GoalFinding, GoalMoment } from "../ports/goal.ts";
import { runInTime } from "../run/limits.ts";
import type { LoopEnd } from "../run/mode.ts";
import { modelNote, type TurnRun } from "../run/run.ts";
import { isAnswer } from "./asked-goal.ts";

const FAILURES = 3;

type Start = "message" | "inputs" | "here";

/**
 * Runs a turn with a goal. `loop` takes steps until the model ends the turn. Then the checks run. If a check fails, the
 * model gets the reason, and the loop continues. Returns the end of the loop if all checks passed, or if no check can
 * run.
 */
export async function pursueGoal(
  run: TurnRun,
  goal: Goal,
  start: Start,
  loop: (run: TurnRun, start: Start) => Promise<LoopEnd>,
): Promise<LoopEnd> {
  const { agent, branch, budget, progress, session } = run;
  const { failures = FAILURES } = goal;
  const live = () => session.state.runs.get(run.id)?.goal;
  // A goal that continues keeps its beginning.
  if (live()?.id === run.id) for (const check of goal.checks) await check.begin?.(momentOf(run, run.id));
  // The process of an earlier run may have stopped while it checked the goal.
  const isAnswered = start === "here" && isAnswer(branch.path.at(-1));
  let isChecked = isAnswered && (live()?.times ?? 0) >= failures;
  let ending: LoopEnd = isAnswered ? { reason: "answered" } : await loop(run, start);
  // Only the first call of a turn is forced.
  const unforced: TurnRun = agent.toolChoice === "none" ? run : { ...run, agent: { ...agent, toolChoice: "auto" } };
  for (;;) {
    if (ending.handsTo || !isEnd(run, ending)) return ending;
    const results = await runInTime(
      run,
      () => budget.softTime(),
      (timed) => checkAll(timed, goal, live()?.id ?? run.id),
    );
    if (run.signal.aborted) return { reason: "interrupted" };
    if (!results) return { reason: "limit", limit: budget.timeLimit() };
    const failed = results.filter(({ passed }) => !passed);
    const times = failed.length === 0 ? 0 : timesFailed(results, failures, live(), isChecked);
    const outcome = failed.length === 0 ? "done" : times < failures ? "open" : "failed";
    const checked: EventBody = { type: "goal.checked", run: run.id, outcome, results, times };
    // The model's message is in the same commit: after a crash, the answer is not checked a second time.
    const note = outcome === "open" ? modelNote(run, noteOf(results)) : undefined;
    await session.commit(note ? [checked, note] : [checked], { durable: true, origin: run.origin });
    if (note) branch.extend(note.message);
    if (outcome === "done") return ending;
    if (outcome === "failed") {
      const left = failed.map(failedCheckText).join("; ");
      const message = `The goal is not reached. These checks failed ${times} times in the same way: ${left}.`;
      return { reason: "failed", error: { code: "goal", message } };
    }
    progress.finished = undefined;
    isChecked = false;
    ending = await loop(unforced, "here");
  }
}

/**
 * Returns the number of answers in a row after which the checks failed in the same way. A user who continues a goal that
 * failed allows the same number again. `isChecked`: the last answer was counted before.
 */
function timesFailed(
  results: readonly GoalResult[],
  failures: number,
  { results: last, times = 0 }: Partial<LiveGoal> = {},
  isChecked: boolean,
): number {
  if (isChecked) return 0;
  const isSame = last !== undefined && failureOf(last) === failureOf(results);
  return isSame && times < failures ? times + 1 : 1;
}

/** True if the model says that it is done, and has not handed over to another agent. */
function isEnd({ agent: { toolbox }, branch, from }: TurnRun, { reason }: LoopEnd): boolean {
  if (reason !== "answered" && reason !== "finished") return false;
  const isHandOff = (message: Message) => message.role === "assistant" && toolbox.handOffIn(message) !== undefined;
  return !toolbox.handsOver || !branch.path.slice(from).some(isHandOff);
}

/** Runs all checks; nothing if the time of the turn is up. */
async function checkAll(run: TurnRun, { checks }: Goal, goal: string): Promise<GoalResult[] | undefined> {
  await stopProcesses(run);
  const results: GoalResult[] = [];
  const moment = momentOf(run, goal);
  for (const check of checks) {
    if (check.last && results.some(({ passed }) => !passed)) continue;
    if (run.signal.aborted) return undefined;
    results.push({ what: check.what, ...(await findingOf(check, moment)) });
  }
  return run.signal.aborted ? undefined : results;
}

async function findingOf(check: GoalCheck, moment: GoalMoment): Promise<GoalFinding> {
  try {
    const { passed, why, changed } = await orAborted(Promise.resolve(check.run(moment)), moment.signal);
    return { passed: passed === true, ...(why !== undefined && { why }), ...(changed?.length && { changed }) };
  } catch (error) {
    return { passed: false, why: errorMessage(error) };
  }
}

/** Ends the background commands of the conversation: they could change files after a check. */
async function stopProcesses({ session }: TurnRun): Promise<void> {
  const running = [...session.state.processes.values()].filter(({ outcome }) => outcome === undefined);
  const stop = (id: string) => session.processes.stop(id, "it was ended so that the goal can be checked");
  // A process that has just ended needs no stop.
  await Promise.all(running.map(({ id }) => stop(id).catch(() => {})));
}

function momentOf(run: TurnRun, goal: string): GoalMoment {
  const { session, branch, signal, progress, budget, origin } = run;
  const last = lastAssistantMessage(branch.path);
  return {
    goal,
    conversation: session.state,
    leaf: branch.leaf,
    answer: last ? textOf(last) : "",
    result: progress.finished?.result,
    signal,
    async count(model, usage, cost) {
      budget.count(usage, cost);
      const event = { type: "usage.counted", purpose: "judge", model, usage } as const;
      await session.commit([cost === undefined ? event : { ...event, cost }], { origin });
    },
  };
}

function noteOf(results: readonly GoalResult[]): string {
  const lines = results.map(({ what, passed, why = "it did not pass" }) =>
    passed ? `- passed: ${what}` : `- failed: ${what}\n  ${why}`,
  );
  const first = "The goal of this turn is not reached. These checks ran after your last change:";
  return `${first}\n\n${lines.join("\n")}\n\nContinue. The turn is done only when all checks pass; a claim changes nothing.`;
}

/** Parts of an output that differ between equal runs: times, durations, and addresses in memory. */
const VARYING =
  /\d+(?:[.,]\d+)?\s?(?:ns|[µu]s|ms|s|sec(?:ond)?s?|min(?:ute)?s?)\b|\d{1,2}:\d\d(?::\d\d)?(?:\.\d+)?|0x[\da-f]+/gi;

/** Two equal texts stand for the same failure. */
function failureOf(results: readonly GoalResult[]): string {
  const failed = results.filter(({ passed }) => !passed);
  return JSON.stringify(failed.map(({ what, why = "" }) => [what, why.replaceAll(VARYING, "#")]));
}
