import { orAborted } from "../model/or-aborted.ts";
import type { ModelDriver } from "../ports/model.ts";
import { checkPrice } from "../run/limits.ts";
import type { TurnRun } from "../run/run.ts";
import { messageOf } from "../toolbox/execute.ts";

/**
 * The model of the next step: another one than before, when the conversation was given another meanwhile. One that cannot
 * be had, or would not keep a limit, is told in the feed, and the turn goes on with the one that it has.
 */
export async function modelNow(run: TurnRun, model: ModelDriver): Promise<ModelDriver> {
  const { session, agent, chosenModel, signal } = run;
  const chosen = session.state.model;
  if (chosen === undefined || chosen === chosenModel || !agent.modelNamed) return model;
  // A sub-agent has the model that its call gave it.
  if (run.call !== undefined) return model;
  run.chosenModel = chosen;
  try {
    const changed = await orAborted(agent.modelNamed(chosen), signal);
    if ("run" in changed.model) throw new Error(`${chosen} runs its turns by itself; it takes the next one.`);
    checkPrice(changed.limits, changed.model);
    run.agent = changed;
    return changed.model;
  } catch (error) {
    // Whoever aborted the run says how it goes on.
    if (error === signal.reason) return model;
    session.notify({ type: "callback.failed", callback: "modelNamed", reason: messageOf(error) }, run.origin);
    return model;
  }
}
