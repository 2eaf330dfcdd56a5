import { giveUpSummary } from "../context/background-summary.ts";
import { makeRoom, useSummary, withWindow } from "../context/room.ts";
import { CUT_OFF } from "../conversation/broken-turn.ts";
import { OptionError } from "../conversation/option-names.ts";
import { nearestNameAdvice } from "../conversation/shown/nearest.ts";
import { turnBegin } from "../conversation/tree/path.ts";
import { orAborted } from "../model/alarm.ts";
import type { ModelError, ToolChoice } from "../ports/model.ts";
import { deliverSteering } from "../run/guard-messages.ts";
import { runInTime } from "../run/limits.ts";
import { failedEnd, type LoopEnd } from "../run/mode.ts";
import { addModelNote, type RunWithModel, type TurnRun } from "../run/run.ts";
import { takeStep } from "../step/step.ts";
import { applyLimitPolicy } from "./at-limit.ts";
import type { ChosenModel } from "./chosen-model.ts";
import { afterFailure, refuseAgain, refuseTooLarge } from "./too-large.ts";

/** The start of a turn: a message, inputs of users, or the messages that are there. */
type StartType = "message" | "inputs" | "here";

/** The default loop: takes steps until the model asks for no call, or a limit is reached. */
export async function stepLoop(begun: RunWithModel, chosen: ChosenModel, start: StartType): Promise<LoopEnd> {
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
  let toolChoice = firstChoice(run, start);
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
    const step = await runInTime(run, softTime, async (run) =>
      takeStep(await withOfferedTools(run, toolChoice), model, toolChoice, standIn),
    );
    if (progress.finished) return { reason: "finished" };
    if (step.type === "calls" && run.agent.toolbox.handOffIn(step.message)) return { reason: "answered" };
    await useSummary(run);
    switch (step.type) {
      case "calls": {
        // If each step forced a call, the turn could not end.
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
      case "refused":
        return { reason: "failed", error: { code: "refused", message: step.reason } };
      case "aborted":
        if (signal.aborted) return { reason: "interrupted" };
    }
  }
}

/**
 * Returns the choice of tools for the next step. A turn that continues after a restart may have made its forced call.
 * Calls of other tools belong to an agent that has handed over.
 */
function firstChoice({ agent, branch, from, session }: TurnRun, start: StartType): ToolChoice {
  const { toolChoice, toolbox } = agent;
  if (toolChoice === "auto" || toolChoice === "none" || start === "message") return toolChoice;
  const path = branch.path.slice(0, from);
  // Inputs for a turn whose process ended continue this turn.
  const isCut = session.state.broken.get(path.at(-1)?.id ?? "")?.code === CUT_OFF.code;
  if (start === "inputs" && !isCut) return toolChoice;
  const turn = path.slice(turnBegin(session.state, path));
  const calls = turn.flatMap((message) => (message.role === "assistant" ? message.calls : []));
  return calls.some(({ tool }) => toolbox.find(tool)) ? "auto" : toolChoice;
}

/** Returns the run with the tools that the agent's `toolsFor` offers in this step. */
async function withOfferedTools(run: TurnRun, toolChoice: ToolChoice): Promise<TurnRun> {
  const { agent, branch, budget, signal } = run;
  const { toolbox, mode, toolsFor } = agent;
  if (!toolsFor) return run;
  const asked = Promise.resolve(orAborted(toolsFor({ step: budget.steps, messages: branch.path }), signal));
  const names = await asked.catch((error) => {
    // The step reports an interruption.
    if (!signal.aborted) throw error;
  });
  if (names === undefined) return run;
  if (!Array.isArray(names)) {
    throw new OptionError(`toolsFor returned ${typeof names}; it must return names of tools, such as ["search"].`);
  }
  for (const name of names) {
    if (toolbox.find(name)) continue;
    const advice = nearestNameAdvice(
      String(name),
      toolbox.schemas.map((tool) => tool.name),
    );
    throw new OptionError(`toolsFor returned "${name}", but the agent has no such tool. ${advice}`);
  }
  const offered = toolbox.only(new Set([...names, ...mode.tools.map(({ name }) => name)]));
  const forced = typeof toolChoice === "object" ? toolChoice.tool : undefined;
  if (forced !== undefined ? !offered.find(forced) : toolChoice === "required" && offered.schemas.length === 0) {
    const missing = forced === undefined ? "no tool" : `no tool "${forced}"`;
    throw new OptionError(`toolsFor offers ${missing} in step ${budget.steps}, but toolChoice forces a call.`);
  }
  return { ...run, agent: { ...agent, toolbox: offered } };
}
