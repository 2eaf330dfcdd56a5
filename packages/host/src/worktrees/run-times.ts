import type { Event, RunEnd } from "@banyan/core";

/** A turn in a log, with its time. */
export interface RunTime {
  /** The first and the last message of the turn. */
  readonly leaves: readonly string[];
  /** Duration in milliseconds, without waiting for users. For a running turn, the time until now. */
  readonly time: number;
  readonly reason: RunEnd | undefined;
}

interface TurnReading {
  readonly leaves: string[];
  readonly begun: number;
  /** The open questions, and the time since which at least one has been open. */
  readonly open: Set<string>;
  since: number;
  waited: number;
  ended: number | undefined;
  reason: RunEnd | undefined;
}

/** Returns the turns of a log with their duration, minus the time in which their own calls waited for a user. */
export function runTimes(events: Iterable<Event>): readonly RunTime[] {
  const runs = new Map<string, TurnReading>();
  const runOf = new Map<string, string>();
  const askedBy = new Map<string, TurnReading>();
  const asks = (run: TurnReading | undefined, question: string, at: number) => {
    if (!run) return;
    if (run.open.size === 0) run.since = at;
    run.open.add(question);
    askedBy.set(question, run);
  };
  const answered = (question: string, at: number) => {
    const run = askedBy.get(question);
    if (run?.open.delete(question) && run.open.size === 0) run.waited += at - run.since;
  };
  for (const event of events) {
    const { type, at } = event;
    if (type === "run.started" && event.call === undefined) {
      const leaves = event.leaf === null ? [] : [event.leaf];
      const run = { leaves, begun: at, open: new Set<string>(), since: 0, waited: 0 };
      runs.set(event.run, { ...run, ended: undefined, reason: undefined });
    } else if (type === "message.started") runOf.set(event.message, event.run);
    else if (type === "call.approval-requested" || type === "question.asked")
      asks(runs.get(runOf.get(event.message) ?? ""), event.question, at);
    else if (type === "run.paused") asks(runs.get(event.run), event.question, at);
    else if (type === "call.approval-resolved" || type === "question.answered" || type === "run.continued")
      answered(event.question, at);
    if (type !== "run.ended") continue;
    const run = runs.get(event.run);
    if (!run) continue;
    if (event.leaf !== null) run.leaves.push(event.leaf);
    for (const question of [...run.open]) answered(question, at);
    run.ended = at;
    run.reason = event.reason;
  }
  const now = Date.now();
  return [...runs.values()].map(({ leaves, begun, open, since, waited, ended = now, reason }) => ({
    leaves,
    time: ended - begun - waited - (open.size > 0 ? now - since : 0),
    reason,
  }));
}
