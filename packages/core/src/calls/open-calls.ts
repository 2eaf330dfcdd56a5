import { type AssistantMessage, isSettled } from "../conversation/message.ts";
import { lastAssistantMessage } from "../conversation/tree/path.ts";
import { orAborted } from "../model/alarm.ts";
import { inTime } from "../run/limits.ts";
import type { TurnRun } from "../run/run.ts";
import { CallBatch } from "./calls.ts";

/**
 * Calls of the last response that a process which is gone left open come to their results first, within the time of the
 * turn. What was said since may stand behind it: that process stopped too. Calls of a run that is at work are that run's:
 * it is waited for until each of them has its result.
 */
export async function goOnWithCalls(run: TurnRun): Promise<void> {
  const response = lastAssistantMessage(run.branch.path);
  if (!response || isSettled(response)) return;
  await inTime(
    run,
    () => run.budget.softTime(),
    (run) => settle(run, response),
  );
  run.branch.showAnew();
}

/** Of two branches that go on from one response, the second waits for the first. */
async function settle(run: TurnRun, response: AssistantMessage): Promise<void> {
  if (run.session.isLive(response.run)) return untilSettled(run, response);
  const { isFirst, done } = run.session.settling(response, () => runAgain(run, response));
  // A run that is interrupted, or has no more time, does not wait for another; its loop sees that it is so.
  return isFirst ? done : Promise.resolve(orAborted(done, run.signal)).catch(() => {});
}

/** Waits for a run at work, which gives each of its calls a result before it ends. */
async function untilSettled({ session, signal }: TurnRun, response: AssistantMessage): Promise<void> {
  const settled = Promise.withResolvers<void>();
  const look = () => {
    if (isSettled(response) || !session.state.runs.has(response.run)) settled.resolve();
  };
  const leave = session.listen({ items: look, ended: () => settled.resolve() });
  try {
    look();
    await orAborted(settled.promise, signal);
  } catch {
    // It is interrupted, or has no more time: its loop sees that it is so.
  } finally {
    leave();
  }
}

async function runAgain(run: TurnRun, response: AssistantMessage): Promise<void> {
  const batch = new CallBatch(run, response.id);
  const events = await batch.recover(response.calls);
  await run.session.commit(events, { durable: true, origin: run.origin });
  await batch.run();
}
