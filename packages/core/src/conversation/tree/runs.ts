import { endReason } from "../broken-turn.ts";
import type { AskedGoal, Event, LiveGoal } from "../event.ts";
import type { MutableState, OpenQuestion } from "../state.ts";
import { latestRun } from "./asking-run.ts";
import { type Change, skippedItem } from "./call-state.ts";
import { holdInputs } from "./inbox.ts";
import { noteQuestions } from "./questions.ts";

/** Starts a run. A run that continues a waiting turn takes over its questions and inputs. */
export function startRun(state: MutableState, event: Extract<Event, { type: "run.started" }>): Change {
  const { run: id, agent, mode, at: startedAt, leaf, call, continues } = event;
  const goal = event.goal && goalBefore(state, event, event.goal);
  if (goal && event.call === undefined) noteBegun(state, goal, leaf);
  if (leaf !== null) state.broken.delete(leaf);
  for (const process of event.processes ?? []) state.processes.delete(process);
  if (continues !== undefined) {
    state.waiting.delete(continues);
    state.continuedBy.set(continues, id);
    noteQuestions(state.questions, event);
    state.inbox = state.inbox.map((input) => (input.run === continues ? { ...input, run: id } : input));
  }
  state.runs.set(id, {
    id,
    agent,
    mode,
    startedAt,
    leaf,
    ...(call === undefined ? {} : { call }),
    ...(goal && { goal }),
  });
  return { run: id };
}

function noteBegun({ goals }: MutableState, goal: LiveGoal, leaf: string | null): void {
  const { from, ...begun } = goals.get(goal.id) ?? { asked: goal, from: [] };
  goals.set(goal.id, { ...begun, from: [...from, leaf] });
}

/** Returns the goal of a run, with the last results if the run continues to pursue a goal. */
function goalBefore(
  { broken, waiting }: MutableState,
  { leaf, continues }: Extract<Event, { type: "run.started" }>,
  goal: AskedGoal,
): LiveGoal {
  const before = broken.get(leaf ?? "")?.goal ?? waiting.get(continues ?? "")?.goal;
  return before?.id === goal.id ? { ...before, ...goal } : goal;
}

/** Keeps the results of the checks of a run's goal. */
export function noteGoal(state: MutableState, event: Extract<Event, { type: "goal.checked" }>): Change {
  const { run: id, outcome, results, times } = event;
  const run = state.runs.get(id);
  if (!run?.goal) return skippedItem(event, "its run has no goal");
  state.runs.set(id, { ...run, goal: { ...run.goal, results, times } });
  const begun = state.goals.get(run.goal.id);
  if (begun && outcome === "done") state.goals.set(run.goal.id, { ...begun, reachedBy: id });
  return { run: id };
}

/** Ends a run. The state keeps a run that waits for a user until its turn continues or ends. */
export function endRun(state: MutableState, event: Extract<Event, { type: "run.ended" }>): Change {
  const run = state.runs.get(event.run) ?? state.waiting.get(event.run);
  // The call of a sub-agent reports how the sub-agent ended.
  if (run?.call === undefined) noteEnd(state, event, run?.goal);
  state.runs.delete(event.run);
  state.waiting.delete(event.run);
  if (event.reason === "waiting" && run) {
    state.waiting.set(run.id, { ...run, leaf: event.leaf });
    for (const question of state.questions.values()) noteLost(state, question, run.id);
  }
  noteQuestions(state.questions, event);
  if (state.inbox.length > 0) holdInputs(state, event);
  return { run: event.run };
}

const LOST =
  "(The program that asked this has stopped, and its call cannot run again: whether it took effect is unknown. Any answer ends the call, and the agent goes on.)";

/** Adds a note to a question whose tool can no longer receive the answer (F84). */
function noteLost(state: MutableState, question: OpenQuestion, run: string): void {
  if (question.type !== "text" || question.survives !== false || question.text.endsWith(LOST)) return;
  const asks = state.messages.get(question.message);
  if (asks?.role === "assistant" && latestRun(state, asks.run) === run)
    state.questions.set(question.id, { ...question, text: `${question.text}\n\n${LOST}` });
}

function noteEnd(state: MutableState, end: Extract<Event, { type: "run.ended" }>, goal: LiveGoal | undefined): void {
  const { run, reason, leaf, error } = end;
  const message = endReason(end);
  state.lastRunEnd = reason;
  if (leaf === null || reason === "answered" || reason === "finished" || reason === "waiting") return;
  state.broken.set(leaf, {
    run,
    reason,
    ...(error && { code: error.code }),
    ...(message !== undefined && { message }),
    ...(goal && { goal }),
  });
}
