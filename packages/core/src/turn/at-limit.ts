import { openLimit } from "../conversation/tree/asking-run.ts";
import type { ModelDriver } from "../ports/model.ts";
import { runInTime } from "../run/limits.ts";
import type { LoopEnd } from "../run/mode.ts";
import { addModelNote, type TurnRun } from "../run/run.ts";
import { isReaderGone } from "../session/error.ts";
import { takeStep } from "../step/step.ts";

/** Ends the turn at a limit, or asks a user, as the limits demand. Returns nothing if the turn continues. */
export async function applyLimitPolicy(run: TurnRun, model: ModelDriver, limit: string): Promise<LoopEnd | undefined> {
  const error = { code: "limit", message: `The turn reached ${limit}.` };
  const { policy = "wrap-up" } = run.agent.limits;
  if (policy === "fail") return { reason: "limit", limit, error };
  if (policy === "ask") {
    // A user who refused in another process is not asked again.
    if (!run.budget.isRefused && (await askForMore(run, error.message))) return undefined;
    if (run.signal.aborted) return { reason: "interrupted" };
  }
  return (run.budget.hasLastWord && (await askLastWord(run, model, limit))) || { reason: "limit", limit };
}

export async function askForMore(run: TurnRun, reason: string): Promise<boolean> {
  const allowed = await askRun(run, reason);
  if (allowed) run.budget.grant();
  return allowed;
}

/** Asks a user whether a run may continue. Returns true if the user agreed, and false if no user can be asked. */
export async function askRun(run: TurnRun, reason: string, offers?: "file"): Promise<boolean> {
  const { session, origin, agent } = run;
  if (agent.unattended) return false;
  const open = offers === undefined ? openLimit(session.state, run.id) : undefined;
  // A run that continues elsewhere checks its message again, and asks then.
  const survives = run.survives && offers === undefined;
  const kind = offers === undefined ? {} : { offers };
  const asked = session.ask(undefined, open?.id);
  const question = asked.id;
  if (!open) {
    const paused = { type: "run.paused", run: run.id, question, reason, ...kind } as const;
    await session.commit([survives ? paused : { ...paused, survives: false }], { durable: true, origin });
  }
  let allowed = false;
  try {
    using _ = run.budget.stopClock();
    allowed = (await asked.answer(run.signal)).decision === "allow";
  } catch {
    // Only an interruption ends the wait. The run then ends, or waits on in the log.
    if (survives && isReaderGone(run.signal)) return false;
  }
  await session.commit([{ type: "run.continued", run: run.id, question, allowed, ...kind }], { durable: true, origin });
  return allowed;
}

/** Makes a final model call without tools, so that the turn ends with a response. */
async function askLastWord(run: TurnRun, model: ModelDriver, limit: string): Promise<LoopEnd | undefined> {
  const { budget, followers } = run;
  if (followers.size > 0) await followers.drop(`the turn reached ${limit}`);
  await addModelNote(
    run,
    `This turn has reached ${limit}. You cannot use tools any more. Answer now with your results, and name the work that is left.`,
  );
  const until = budget.lastWordTime();
  const step = await runInTime(
    run,
    () => until,
    (run) => takeStep(run, model, "none"),
  );
  if (step.type === "failed") {
    const message = `The turn reached ${limit}, and the final answer failed: ${step.error.message}`;
    return { reason: "limit", limit, error: { code: "limit", message, cause: step.error } };
  }
  if (step.type === "refused") {
    const message = `The turn reached ${limit}, and the final answer was refused: ${step.reason}`;
    return { reason: "limit", limit, error: { code: "refused", message } };
  }
  return run.signal.aborted ? { reason: "interrupted" } : undefined;
}
