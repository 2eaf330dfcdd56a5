import { orAborted } from "../model/alarm.ts";
import type { ModelDriver, ModelError } from "../ports/model.ts";
import { checkPrice, inTime } from "../run/limits.ts";
import { isOut } from "../run/patience.ts";
import type { Asking, TurnAgent, TurnRun } from "../run/run.ts";
import { messageOf } from "../toolbox/execute.ts";

/** Follows the model that people choose for the conversation while a turn goes on. */
export class ChosenModel {
  #known: string | undefined;

  /** @param known The name of the model that the conversation had when the agent came to take turns. */
  constructor(known: string | undefined) {
    this.#known = known;
  }

  /**
   * How the next step asks: with another model than before, when the conversation was given another meanwhile. One that
   * cannot be had, or would not keep a limit, is told in the feed, and the turn goes on with the one that it has.
   */
  async now(asking: Asking): Promise<Asking> {
    const { run } = asking;
    const { session, agent, budget, origin } = run;
    const chosen = session.state.model;
    const { modelNamed } = agent;
    if (chosen === undefined || chosen === this.#known || !modelNamed) return asking;
    // A sub-agent has the model that its call gave it.
    if (run.call !== undefined) return asking;
    this.#known = chosen;
    const look = async ({ signal }: TurnRun): Promise<Asking> => {
      try {
        const { changed, model } = await steppedBy(agent, modelNamed, chosen, signal);
        return { run: { ...run, agent: changed }, model };
      } catch (error) {
        // Whoever aborted the run says how it goes on.
        if (error === signal.reason) return asking;
        session.notify({ type: "callback.failed", callback: "modelNamed", reason: messageOf(error) }, origin);
        return asking;
      }
    };
    return inTime(run, () => budget.softTime(), look);
  }

  /**
   * How the turn goes on with the next model that can stand in for one that is out (C9). Says so, and of each that cannot be
   * had, or would not keep a limit, why; nothing when there is none.
   */
  async standIn({ run, model }: Asking, error: ModelError): Promise<Asking | undefined> {
    const { session, agent, budget, origin } = run;
    const { modelNamed, fallbacks } = agent;
    if (!modelNamed || !isOut(error)) return undefined;
    const find = async ({ signal }: TurnRun): Promise<Asking | undefined> => {
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
          session.notify({ type: "callback.failed", callback: "modelNamed", reason: messageOf(cause) }, origin);
        }
      }
      return undefined;
    };
    return inTime(run, () => budget.softTime(), find);
  }
}

/** An agent, a sub-agent too, with the model of a name. Rejects when it cannot be had, or does not take single steps. */
async function steppedBy(
  agent: TurnAgent,
  modelNamed: NonNullable<TurnAgent["modelNamed"]>,
  name: string,
  signal: AbortSignal,
): Promise<{ changed: TurnAgent; model: ModelDriver }> {
  const { model, settings, compaction } = await orAborted(modelNamed(name), signal);
  if ("run" in model) throw new Error(`${name} runs its turns by itself; it takes the next one.`);
  checkPrice(agent.limits, model);
  return { changed: { ...agent, model, settings, compaction }, model };
}
