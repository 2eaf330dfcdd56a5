import { type ConversationState, type LiveRun, latestRun } from "@banyan/core/conversation";

/**
 * Returns the user's newest running turn. Without one, returns the newest turn whose process has ended and that waits
 * for an answer.
 * @example const run = newestTurn(session.state);
 */
export function newestTurn({ runs, waiting }: ConversationState): string | undefined {
  return [...waiting.values(), ...runs.values()].findLast(({ call }) => call === undefined)?.id;
}

/**
 * Returns the run that now works on the turn of `run`, or waits in this turn. Returns `undefined` if the turn has
 * ended.
 * @example for (const run of session.state.runs.keys()) console.log(openRun(session.state, run)?.id);
 */
export function openRun(state: ConversationState, run: string): LiveRun | undefined {
  const latest = latestRun(state, run);
  return state.runs.get(latest) ?? state.waiting.get(latest);
}

/**
 * Returns the runs of the turn to which `run` belongs, in order. Each run continues the work of the previous run.
 * @example for (const run of session.state.runs.keys()) console.log(runsOfTurn(session.state, run).length);
 */
export function runsOfTurn({ continuedBy }: ConversationState, run: string): readonly string[] {
  const runs = [run];
  for (const [before, next] of [...continuedBy].reverse()) if (next === runs[0]) runs.unshift(before);
  for (let next = continuedBy.get(run); next !== undefined; next = continuedBy.get(next)) runs.push(next);
  return runs;
}

/**
 * True if two runs belong to one turn: they are the same run, or one continues the work of the other.
 * @example
 * const [one = "", other = ""] = session.state.runs.keys();
 * isSameTurn(session.state, one, other)
 */
export function isSameTurn(state: ConversationState, run: string, other: string): boolean {
  return latestRun(state, run) === latestRun(state, other);
}

/**
 * Returns the last message of the turn to which `run` belongs.
 * @example for (const run of session.state.runs.keys()) console.log(lastMessageOfTurn(session.state, run));
 */
export function lastMessageOfTurn(state: ConversationState, run: string): string | undefined {
  const messages = [...state.messages.values()];
  return messages.findLast((each) => each.role === "assistant" && isSameTurn(state, each.run, run))?.id;
}
