import { type ConversationState, type LiveRun, latestRun } from "@banyan/core/conversation";

/** Returns the newest turn of a user that runs, or else the newest that waits for an answer without a process. */
export function topRun({ runs, waiting }: ConversationState): string | undefined {
  return [...waiting.values(), ...runs.values()].findLast(({ call }) => call === undefined)?.id;
}

/** Returns the run that works on the turn of `run` or waits; `undefined` when the turn has ended. */
export function openRun(state: ConversationState, run: string): LiveRun | undefined {
  const latest = latestRun(state, run);
  return state.runs.get(latest) ?? state.waiting.get(latest);
}

/** Returns the runs of the turn of `run` in their order. Each run continues the turn of the run before. */
export function runsOf({ continuedBy }: ConversationState, run: string): readonly string[] {
  const runs = [run];
  for (const [before, next] of [...continuedBy].reverse()) if (next === runs[0]) runs.unshift(before);
  for (let next = continuedBy.get(run); next !== undefined; next = continuedBy.get(next)) runs.push(next);
  return runs;
}

/** Returns whether two runs belong to one turn: they are the same run, or one continues the turn of the other. */
export function isSameTurn(state: ConversationState, run: string, other: string): boolean {
  return latestRun(state, run) === latestRun(state, other);
}

/** Returns the last message of the turn of `run`. */
export function lastOfRun(state: ConversationState, run: string): string | undefined {
  const messages = [...state.messages.values()];
  return messages.findLast((each) => each.role === "assistant" && isSameTurn(state, each.run, run))?.id;
}
