import { createId } from "../conversation/id.ts";
import type { ModelDriver } from "../ports/model.ts";
import { alarm } from "./alarm.ts";
import { type Ending, failed } from "./ending.ts";
import { deliverSteering } from "./inputs.ts";
import type { TurnRun } from "./run.ts";
import { takeStep } from "./step.ts";

/** The time of a turn is up. */
class OutOfTime extends Error {
  override readonly name = "OutOfTime";
}

/** The default loop: steps until the model asks for no call, or a limit is reached. */
export async function stepLoop(run: TurnRun, model: ModelDriver): Promise<Ending> {
  const { budget, signal } = run;
  for (;;) {
    if (signal.aborted) return { reason: "interrupted" };
    await deliverSteering(run);
    const limit = budget.exhausted();
    if (limit !== undefined) {
      const ending = await atLimit(run, model, limit);
      if (ending) return ending;
      continue;
    }
    run.step = ++budget.steps;
    const step = await inTime(run, budget.softTime(), () => takeStep(run, model, "auto"));
    switch (step.type) {
      case "calls":
      case "paused":
        break;
      case "answer":
        return { reason: "answered" };
      case "failed":
        return failed(step.error);
      case "aborted":
        if (signal.aborted) return { reason: "interrupted" };
    }
  }
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

/** What the policy says at a limit. Nothing: the turn goes on. */
async function atLimit(run: TurnRun, model: ModelDriver, limit: string): Promise<Ending | undefined> {
  const error = { code: "limit", message: `The turn reached ${limit}.` };
  const { policy = "wrap-up" } = run.agent.limits;
  if (policy === "fail") return { reason: "limit", limit, error };
  if (policy === "ask") {
    if (await askForMore(run, error.message)) return undefined;
    if (run.signal.aborted) return { reason: "interrupted" };
  }
  return (await lastWord(run, model, limit)) ?? { reason: "limit", limit };
}

/** Asks a person for as much again as the limits allow; answers whether they agreed. */
export async function askForMore(run: TurnRun, reason: string): Promise<boolean> {
  const { session, origin } = run;
  const asked = session.ask();
  const question = asked.id;
  await session.commit([{ type: "run.paused", run: run.id, question, reason }], { durable: true, origin });
  const since = performance.now();
  let allowed = false;
  try {
    allowed = (await asked.answer(run.signal)).decision === "allow";
  } catch {
    // Only an interruption ends the wait; the run is ended by it.
  }
  run.budget.leaveOut(performance.now() - since);
  await session.commit([{ type: "run.continued", run: run.id, question, allowed }], { durable: true, origin });
  if (allowed) run.budget.grant();
  return allowed;
}

/** One last model call without tools, so that the turn ends with an answer. */
async function lastWord(run: TurnRun, model: ModelDriver, limit: string): Promise<Ending | undefined> {
  const { session, branch, budget, origin } = run;
  const message = createId();
  const text = `This turn has reached ${limit}. No tools can be used any more. Answer now with what you have, and say what is left to do.`;
  await session.commit(
    [
      {
        type: "message.added",
        message,
        parentId: branch.leaf,
        role: "user",
        author: "system",
        parts: [{ type: "text", text }],
      },
    ],
    { origin },
  );
  branch.extend(message);
  const step = await inTime(run, budget.lastWordTime(), () => takeStep(run, model, "none"));
  if (step.type === "failed") return failed(step.error);
  return run.signal.aborted ? { reason: "interrupted" } : undefined;
}
