import { alarm } from "./alarm.ts";
import type { TurnRun } from "./run.ts";

/** The time of a turn is up. */
class OutOfTime extends Error {
  override readonly name = "OutOfTime";
}

/** Runs a part of a turn and aborts it when the turn has lasted `until` milliseconds. */
export async function inTime<T>(run: TurnRun, until: number, part: () => Promise<T>): Promise<T> {
  if (until === Number.POSITIVE_INFINITY) return part();
  const outer = run.signal;
  const clock = new AbortController();
  const cancel = alarm(Math.max(0, until - run.budget.elapsed()), () => {
    run.budget.timeIsUp = true;
    clock.abort(new OutOfTime(`the turn reached ${run.budget.timeLimit()}`));
  });
  run.signal = AbortSignal.any([outer, clock.signal]);
  try {
    return await part();
  } finally {
    cancel();
    run.signal = outer;
  }
}
