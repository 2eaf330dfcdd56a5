import { errorMessage } from "../conversation/error-message.ts";
import { orAborted } from "../model/alarm.ts";
import type { ModelDriver, ModelError } from "../ports/model.ts";
import { checkPrice, runInTime } from "../run/limits.ts";
import { isOtherModelWorthTrying } from "../run/patience.ts";
import type { RunWithModel, TurnAgent, TurnRun } from "../run/run.ts";

export class ChosenModel {
  #known: string | undefined;

  /** @param known The conversation's model name at the time when the agent was created. */
  constructor(known: string | undefined) {
    this.#known = known;
  }

  /** Follows a user's change of the model. If the model is unusable, the feed says so and the turn keeps its model. */
  async now(asking: RunWithModel): Promise<RunWithModel> {
    const { run } = asking;
    const { session, agent, budget, origin } = run;
    const chosen = session.state.model;
    const { modelNamed } = agent;
    if (chosen === undefined || chosen === this.#known || !modelNamed) return asking;
    // A sub-agent keeps the model of its call.
    if (run.call !== undefined) return asking;
    this.#known = chosen;
    const look = async ({ signal }: TurnRun): Promise<RunWithModel> => {
      try {
        const { changed, model } = await steppedBy(agent, modelNamed, chosen, signal);
        return { run: { ...run, agent: changed }, model };
      } catch (error) {
        if (error === signal.reason) return asking;
        session.notify({ type: "callback.failed", callback: "modelNamed", reason: errorMessage(error) }, origin);
        return asking;
      }
    };
    return runInTime(run, () => budget.softTime(), look);
  }

  /**
   * Returns the turn with the next fallback (C9), or nothing if none is left. The feed gets the replacement, and the
   * reason for each fallback that is unavailable or breaks a limit.
   */
  async standIn({ run, model }: RunWithModel, error: ModelError): Promise<RunWithModel | undefined> {
    const { session, agent, budget, origin } = run;
    const { modelNamed, fallbacks } = agent;
    if (!modelNamed || !isOtherModelWorthTrying(error)) return undefined;
    const find = async ({ signal }: TurnRun): Promise<RunWithModel | undefined> => {
      for (const [index, name] of fallbacks.entries()) {
        try {
          const found = await steppedBy(agent, modelNamed, name, signal);
          if (found.model.id === model.id) continue;
          const changed = { ...found.changed, fallbacks: fallbacks.slice(index + 1) };
          const replaced = { type: "model.replaced", run: run.id, from: model.id, to: found.model.id } as const;
          session.notify(
            { ...replaced, code: error.code, reason: error.retryable ? error.fact : error.message },
            origin,
          );
          return { run: { ...run, agent: changed }, model: found.model };
        } catch (cause) {
          if (cause === signal.reason) return undefined;
          session.notify({ type: "callback.failed", callback: "modelNamed", reason: errorMessage(cause) }, origin);
        }
      }
      return undefined;
    };
    return runInTime(run, () => budget.softTime(), find);
  }
}

/** Rejects if the model is unavailable or does not take single steps. */
async function steppedBy(
  agent: TurnAgent,
  modelNamed: NonNullable<TurnAgent["modelNamed"]>,
  name: string,
  signal: AbortSignal,
): Promise<{ changed: TurnAgent; model: ModelDriver }> {
  const { model, settings, compaction } = await orAborted(modelNamed(name), signal);
  if ("run" in model) throw new Error(`${name} runs its own turns, so the model changes only at the next turn.`);
  checkPrice(agent.limits, model);
  return { changed: { ...agent, model, settings, compaction }, model };
}
