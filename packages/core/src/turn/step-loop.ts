import { giveUpSummary } from "../context/background-summary.ts";
import { makeRoom, useSummary } from "../context/compaction.ts";
import { withWindow } from "../context/overflow.ts";
import type { ModelError, ToolChoice } from "../ports/model.ts";
import { runInTime } from "../run/limits.ts";
import { failedEnd, type LoopEnd } from "../run/mode.ts";
import { addModelNote, deliverSteering, type RunWithModel, type TurnRun } from "../run/run.ts";
import { takeStep } from "../step/step.ts";
import { applyLimitPolicy } from "./at-limit.ts";
import type { ChosenModel } from "./chosen-model.ts";
import { afterFailure, refuseAgain, refuseTooLarge } from "./too-large.ts";

/** The default loop: takes steps until the model asks for no call, or a limit is reached. */
export async function stepLoop(begun: RunWithModel, chosen: ChosenModel): Promise<LoopEnd> {
  let { run, model } = begun;
  const { budget, progress, signal } = run;
  const { mode } = run.agent;
  const softTime = () => budget.softTime();
  const standIn = async (error: ModelError) => {
    const by = await chosen.standIn({ run, model }, error);
    if (by) ({ run, model } = by);
    return by;
  };
  // A call left open by a crash may have finished the task, or written a summary.
  if (progress.finished) return { reason: "finished" };
  await useSummary(run);
  let toolChoice = firstChoice(run);
  for (;;) {
    if (signal.aborted) return { reason: "interrupted" };
    await deliverSteering(run);
    ({ run, model } = withWindow(await chosen.now({ run, model })));
    const limit = budget.takeRoom();
    if (limit !== undefined) {
      // A background summary may have taken the room for another step.
      if (await giveUpSummary(run)) continue;
      const ending = await applyLimitPolicy(run, model, limit);
      if (ending) return ending;
      continue;
    }
    // A window of unknown size has room for every request.
    const hasWindow = run.agent.compaction?.contextSize !== undefined;
    if (hasWindow) {
      // A user may type "stop" while a summary is made: the model reads it before its next call (F94).
      do {
        const tooLarge = await refuseTooLarge(run, model);
        if (tooLarge) return failedEnd(tooLarge);
        await runInTime(run, softTime, (run) => makeRoom({ run, model }, standIn));
      } while (!signal.aborted && (await deliverSteering(run)));
    }
    if (signal.aborted) return { reason: "interrupted" };
    if (budget.timeIsUp) continue;
    const refused = hasWindow ? await refuseAgain(run, model) : undefined;
    if (refused) return failedEnd(refused);
    budget.beginStep();
    const step = await runInTime(run, softTime, (run) => takeStep(run, model, toolChoice, standIn));
    if (progress.finished) return { reason: "finished" };
    await useSummary(run);
    switch (step.type) {
      case "calls": {
        // A forced call in each step would never let the turn end.
        if (toolChoice !== "none") toolChoice = "auto";
        const problem = mode.onCalls(run.branch.path.slice(run.from));
        if (problem) return { reason: "failed", error: problem };
        break;
      }
      case "told":
      case "paused":
      case "replaced":
        break;
      case "ended": {
        const correction = await mode.onResponse(step.message, run.branch.path.slice(run.from));
        if (correction === undefined) return { reason: "answered" };
        if (typeof correction !== "string") return { reason: "failed", error: correction };
        await addModelNote(run, correction);
        break;
      }
      case "failed": {
        const error = await afterFailure({ run, model }, step.error, standIn);
        if (error) return failedEnd(error);
        break;
      }
      case "aborted":
        if (signal.aborted) return { reason: "interrupted" };
    }
  }
}

/** Returns the choice of tools for the next step. A turn that continues after a restart may have made its forced call. */
function firstChoice({ agent: { toolChoice }, branch: { path } }: TurnRun): ToolChoice {
  if (toolChoice === "auto" || toolChoice === "none") return toolChoice;
  const begin = path.findLastIndex((message) => message.role === "user" && message.author !== "system");
  return path.slice(begin).some((message) => message.role === "assistant" && message.calls.length > 0)
    ? "auto"
    : toolChoice;
}
