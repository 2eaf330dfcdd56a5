import type { ModelDriver } from "../ports/model.ts";
import { alarm } from "./alarm.ts";
import { makeRoom, shorten, tellModel, useSummary } from "./compaction.ts";
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
  const { mode } = run.agent;
  /** A provider that says so twice in a turn is believed. */
  let overflowed = false;
  // A call that a crash had left open may have ended the task, or summed up.
  if (run.finished) return { reason: "finished" };
  await useSummary(run);
  for (;;) {
    if (signal.aborted) return { reason: "interrupted" };
    await deliverSteering(run);
    const limit = budget.exhausted();
    if (limit !== undefined) {
      const ending = await atLimit(run, model, limit);
      if (ending) return ending;
      continue;
    }
    await inTime(run, budget.softTime(), () => makeRoom(run, model));
    if (signal.aborted) return { reason: "interrupted" };
    run.step = ++budget.steps;
    const step = await inTime(run, budget.softTime(), () => takeStep(run, model, "auto"));
    if (run.finished) return { reason: "finished" };
    await useSummary(run);
    switch (step.type) {
      case "calls": {
        const problem = mode.onCalls(run.branch.path.slice(run.from));
        if (problem) return { reason: "failed", error: problem };
        break;
      }
      case "told":
      case "paused":
        break;
      case "answer": {
        const correction = mode.onAnswer(step.message);
        if (correction === undefined) return { reason: "answered" };
        await tellModel(run, correction);
        break;
      }
      case "failed":
        if (step.error.code !== "context-overflow" || overflowed) return failed(step.error);
        overflowed = true;
        if ((await shorten(run, model, "the request was too long for the model", 0)) !== undefined) {
          return failed(step.error);
        }
        break;
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
  const { budget, followers } = run;
  if (followers.size > 0) await followers.drop(`the turn reached ${limit}`);
  await tellModel(
    run,
    `This turn has reached ${limit}. No tools can be used any more. Answer now with what you have, and say what is left to do.`,
  );
  const step = await inTime(run, budget.lastWordTime(), () => takeStep(run, model, "none"));
  if (step.type === "failed") return failed(step.error);
  return run.signal.aborted ? { reason: "interrupted" } : undefined;
}
