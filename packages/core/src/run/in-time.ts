import { alarm } from "../model/alarm.ts";
import type { TurnRun } from "./run.ts";

/** The time of a turn is up. */
class OutOfTime extends Error {
  override readonly name = "OutOfTime";
}

/** While a person is asked, the clock stands still: whether it goes on is looked at every so many milliseconds. */
const LOOK = 20;

/**
 * Runs a part of a turn, with a run whose signal also aborts when the turn has lasted `until()` milliseconds: a person who
 * is asked somewhere in its tree stops the clock, and may grant more.
 */
export async function inTime<T>(run: TurnRun, until: () => number, part: (run: TurnRun) => Promise<T>): Promise<T> {
  const { budget, signal: outer } = run;
  if (until() === Number.POSITIVE_INFINITY) return part(run);
  const clock = new AbortController();
  let cancel = () => {};
  const wait = (milliseconds: number) => {
    cancel = alarm(milliseconds, () => {
      const rest = until() - budget.elapsed();
      if (rest > 0) return wait(Math.max(rest, LOOK));
      budget.endTime();
      clock.abort(new OutOfTime(`the turn reached ${budget.timeLimit()}`));
    });
  };
  wait(Math.max(0, until() - budget.elapsed()));
  try {
    return await part({ ...run, signal: AbortSignal.any([outer, clock.signal]) });
  } finally {
    cancel();
  }
}
