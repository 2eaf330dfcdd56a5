import type { ModelError } from "../ports/model.ts";
import type { RunWithModel } from "../run/run.ts";
import { ChosenModel } from "./chosen-model.ts";

/** Keeps the model of the last step: a turn that continues after failed checks of its goal uses this model. */
export class LastModel extends ChosenModel {
  #last: RunWithModel | undefined;

  override async now(asking: RunWithModel): Promise<RunWithModel> {
    this.#last = await super.now(asking);
    return this.#last;
  }

  override async standIn(asking: RunWithModel, error: ModelError): Promise<RunWithModel | undefined> {
    const by = await super.standIn(asking, error);
    this.#last = by ?? this.#last;
    return by;
  }

  /** Returns a run of the turn with the model of the last step. */
  continued(asking: RunWithModel): RunWithModel {
    if (!this.#last) return asking;
    const { model, settings, compaction, fallbacks } = this.#last.run.agent;
    const agent = { ...asking.run.agent, model, settings, compaction, fallbacks };
    return { run: { ...asking.run, agent }, model: this.#last.model };
  }
}
