import { orAborted } from "../model/alarm.ts";
import type { ModelDriver } from "../ports/model.ts";
import { inTime } from "../run/in-time.ts";
import { checkPrice } from "../run/limits.ts";
import type { TurnRun } from "../run/run.ts";
import { messageOf } from "../toolbox/execute.ts";

/** A run, and the model that it asks: the one of its agent. */
export interface Asking {
  readonly run: TurnRun;
  readonly model: ModelDriver;
}

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
        const changed = await orAborted(modelNamed(chosen), signal);
        const { model, limits } = changed;
        if ("run" in model) throw new Error(`${chosen} runs its turns by itself; it takes the next one.`);
        checkPrice(limits, model);
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
}
