import { type AssistantMessage, isSettled } from "../conversation/message.ts";
import { lastAssistantMessage } from "../conversation/tree/path.ts";
import { orAborted } from "../model/alarm.ts";
import { runInTime } from "../run/limits.ts";
import type { TurnRun } from "../run/run.ts";
import { CallBatch } from "./calls.ts";

/** Gives results to the calls that a stopped process left without a result, or waits for the run that owns them. */
export async function completeOpenCalls(run: TurnRun): Promise<void> {
  const response = lastAssistantMessage(run.branch.path);
  if (!response || isSettled(response)) return;
  await runInTime(
    run,
    () => run.budget.softTime(),
    (run) => settleOpenCalls(run, response),
  );
  run.branch.showAnew();
}

/** If two branches continue from one response, the second waits for the first. */
async function settleOpenCalls(run: TurnRun, response: AssistantMessage): Promise<void> {
  if (run.session.runs.isLive(response.run)) return untilSettled(run, response);
  const { isFirst, done } = run.session.runs.settling(response, () => runAgain(run, response));
  // If the run was interrupted or is out of time, its loop reacts to the abort.
  return isFirst ? done : Promise.resolve(orAborted(done, run.signal)).catch(() => {});
}

/** Waits for a live run, which gives each of its calls a result before it ends. */
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
    // If the run was interrupted or is out of time, its loop reacts to the abort.
  } finally {
    leave();
  }
}

async function runAgain(run: TurnRun, response: AssistantMessage): Promise<void> {
  const batch = new CallBatch(run, response.id);
  const events = await batch.recover(response.calls);
  await run.session.commit(events, { durable: true, origin: run.origin });
  await batch.run();
  if (batch.defect) throw batch.defect;
}
