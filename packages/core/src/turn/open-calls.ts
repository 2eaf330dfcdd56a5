import { type AssistantMessage, isSettled } from "../conversation/message.ts";
import { lastAnswer } from "../conversation/path.ts";
import { orAborted } from "../ports/or-aborted.ts";
import { CallBatch } from "./calls.ts";
import { inTime } from "./in-time.ts";
import type { TurnRun } from "./run.ts";

/** Answers whose open calls a run goes on with. */
const goneOnWith = new WeakMap<AssistantMessage, Promise<void>>();

/**
 * Calls of the last answer that a process which is gone left open come to their results first, within the time of the
 * turn. What was said since may stand behind it: that process stopped too.
 */
export async function goOnWithCalls(run: TurnRun): Promise<void> {
  const answer = lastAnswer(run.branch.path);
  if (!answer || isSettled(answer)) return;
  await inTime(
    run,
    () => run.budget.softTime(),
    () => settle(run, answer),
  );
  run.branch.showAnew();
}

/** Of two branches that go on from one answer, the second waits for the first. */
async function settle(run: TurnRun, answer: AssistantMessage): Promise<void> {
  const other = goneOnWith.get(answer);
  // A run that is interrupted, or has no more time, does not wait; its loop sees that it is so.
  if (other) return Promise.resolve(orAborted(other, run.signal)).catch(() => {});
  const settling = runAgain(run, answer);
  goneOnWith.set(answer, settling);
  await settling;
}

async function runAgain(run: TurnRun, answer: AssistantMessage): Promise<void> {
  const batch = new CallBatch(run, answer.id);
  const events = await batch.recover(answer.calls);
  await run.session.commit(events, { durable: true, origin: run.origin });
  await batch.run();
}
